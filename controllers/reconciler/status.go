package reconciler

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
)

// Admission decides whether a status may be written now. [resync.LiveStatus] implements it.
type Admission interface {
	Admit(resync.Change, resync.Difference) bool
}

// PatchStatus writes the status if it changed and the admission allows the write. It returns nil for an object that no
// longer exists.
func PatchStatus(ctx context.Context, c client.Client, writes Admission, before, after client.Object) error {
	if !writes.Admit(changeOf(after), statusDifference(before, after)) {
		return nil
	}
	// Patch overwrites its argument with the API server's answer, but the caller needs the computed status.
	answer := after.DeepCopyObject().(client.Object)
	if err := c.Status().Patch(ctx, answer, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

// transientReasons are reasons that are normal for a short time after `kubectl apply` of a folder, and for an
// Expectation until it is met.
var transientReasons = []string{
	v1alpha1.ReasonSandboxNotFound, v1alpha1.ReasonSandboxNotReady, v1alpha1.ReasonNotMet, v1alpha1.ReasonSettling,
}

// Announce creates an event when a condition changes. The normal status of the condition is True. The first change to a
// normal state creates no event, because such events would be a quarter of the API server's writes for a new sandbox.
func Announce(recorder events.EventRecorder, regarding runtime.Object, condition string, before, after []metav1.Condition) {
	was, is := meta.FindStatusCondition(before, condition), meta.FindStatusCondition(after, condition)
	if is == nil || (isInitial(was) && needsNoAction(is)) {
		return
	}
	if was != nil && was.Status == is.Status && was.Reason == is.Reason && !startsBlockingDeletion(was, is) {
		return
	}
	kind := corev1.EventTypeNormal
	if is.Status != metav1.ConditionTrue && !isTransient(is) || is.Reason == v1alpha1.ReasonQuotaExceeded {
		kind = corev1.EventTypeWarning
	}
	recorder.Eventf(regarding, nil, kind, is.Reason, ActionReconcile, "%s", is.Message)
}

func isTransient(c *metav1.Condition) bool { return slices.Contains(transientReasons, c.Reason) }

// isInitial reports whether a condition has no lasting status: it is nil, Unknown, or False for a transient reason.
func isInitial(c *metav1.Condition) bool {
	return c == nil || c.Status == metav1.ConditionUnknown || isTransient(c)
}

// needsNoAction reports whether a condition requires no action by the user.
func needsNoAction(c *metav1.Condition) bool {
	return c.Status == metav1.ConditionTrue || c.Status == metav1.ConditionUnknown || isTransient(c)
}

// startsBlockingDeletion reports whether the change means that an unavailable database now blocks a deletion.
func startsBlockingDeletion(was, is *metav1.Condition) bool {
	return is.Message == deletionUnavailable && was.Message != deletionUnavailable
}

// Actions that events report.
const (
	ActionReconcile        = "Reconcile"
	ActionIssueCredentials = "IssueCredentials"
	ActionExpire           = "Expire"
)

// Seconds truncates t to whole seconds, the precision of the API server. It returns nil for nil.
func Seconds(t *time.Time) *metav1.Time {
	if t == nil {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}
