package controllers

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// patchStatus writes the status where it differs from the one before, and does nothing where it does not: a quiet cluster
// makes no writes. An object that is gone by now is no error.
func patchStatus(ctx context.Context, c client.Client, before, after client.Object) error {
	if equality.Semantic.DeepEqual(statusOf(before), statusOf(after)) { // one moment in two time zones is the same
		return nil
	}
	// The patch answers with the object as it stands in the API server, which must not replace what was computed.
	answer := after.DeepCopyObject().(client.Object)
	if err := c.Status().Patch(ctx, answer, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}

func statusOf(obj client.Object) any {
	switch o := obj.(type) {
	case *v1alpha1.SandboxEnvironment:
		return o.Status
	case *v1alpha1.TestClient:
		return o.Status
	default:
		panic(fmt.Sprintf("no status known for %T", obj))
	}
}

// passingReasons are those of a wait that belongs to every `kubectl apply` of a folder: nothing is wrong.
var passingReasons = []string{v1alpha1.ReasonSandboxNotFound, v1alpha1.ReasonSandboxNotReady}

// announce makes an event of a change of a condition with positive polarity. What becomes as its spec wants it without anything
// going wrong makes none: the condition tells that, with its moment, and an event of each would be a quarter of all that the API
// server writes for a new sandbox.
func announce(recorder events.EventRecorder, regarding runtime.Object, condition string, before, after []metav1.Condition) {
	was, is := meta.FindStatusCondition(before, condition), meta.FindStatusCondition(after, condition)
	if is == nil || isBeginning(was) && isWell(is) ||
		was != nil && was.Status == is.Status && was.Reason == is.Reason && !beginsToHoldUpDeletion(was, is) {
		return
	}
	kind := corev1.EventTypeNormal
	if is.Status != metav1.ConditionTrue && !isPassing(is) {
		kind = corev1.EventTypeWarning
	}
	recorder.Eventf(regarding, nil, kind, is.Reason, actionReconcile, "%s", is.Message)
}

func isPassing(c *metav1.Condition) bool { return slices.Contains(passingReasons, c.Reason) }

// isBeginning reports whether a condition has not been decided for the first time yet.
func isBeginning(c *metav1.Condition) bool {
	return c == nil || c.Status == metav1.ConditionUnknown || isPassing(c)
}

// isWell reports whether there is nothing to do about a condition but to wait.
func isWell(c *metav1.Condition) bool {
	return c.Status == metav1.ConditionTrue || c.Status == metav1.ConditionUnknown || isPassing(c)
}

// beginsToHoldUpDeletion reports whether what was in the way already is now in the way of a deletion.
func beginsToHoldUpDeletion(was, is *metav1.Condition) bool {
	return is.Message == deletionAway && was.Message != deletionAway
}

// Actions that events report.
const (
	actionReconcile        = "Reconcile"
	actionIssueCredentials = "IssueCredentials"
	actionExpire           = "Expire"
)
