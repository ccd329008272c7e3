package sandboxenvironment

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// claim marks a sandbox as served by this installation. It must succeed before any other write. Of two installations that
// claim a sandbox at the same time, the patch of the second one is a conflict.
func (r *Reconciler) claim(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) error {
	if sandbox.Status.Installation == r.Installation {
		return nil
	}
	before := sandbox.DeepCopy()
	sandbox.Status.Installation = r.Installation
	meta.RemoveStatusCondition(&sandbox.Status.Conditions, v1alpha1.ConditionInstallationConflict)
	return patchWithLock(ctx, r.Client, before, sandbox)
}

// leave tells on a sandbox of another installation that this one does not serve it. Nothing else of the sandbox is written.
func (r *Reconciler) leave(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (ctrl.Result, error) {
	conflict := metav1.Condition{
		Type: v1alpha1.ConditionInstallationConflict, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonOwnedByAnotherInstallation,
		Message: fmt.Sprintf("The installation %q serves this sandbox. The installation %q watches its namespace too, and leaves the sandbox as "+
			"it is: let only one of them watch the namespace.", sandbox.Status.Installation, r.Installation),
		ObservedGeneration: sandbox.Generation, LastTransitionTime: metav1.NewTime(r.Clock.Now()),
	}
	before := sandbox.DeepCopy()
	if meta.FindStatusCondition(before.Status.Conditions, conflict.Type) != nil {
		return r.Pace.Next(nil)
	}
	meta.SetStatusCondition(&sandbox.Status.Conditions, conflict)
	if err := patchWithLock(ctx, r.Client, before, sandbox); err != nil {
		return r.Pace.Next(err)
	}
	logf.FromContext(ctx).Info("Another installation serves this sandbox: it is left as it is", "installation", sandbox.Status.Installation)
	r.Recorder.Eventf(sandbox, nil, corev1.EventTypeWarning, conflict.Reason, reconciler.ActionReconcile, "%s", conflict.Message)
	return r.Pace.Next(nil)
}

func patchWithLock(ctx context.Context, c client.Client, before, after *v1alpha1.SandboxEnvironment) error {
	answer := after.DeepCopy()
	err := c.Status().Patch(ctx, answer, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("writing the status: %w", client.IgnoreNotFound(err))
	}
	after.ResourceVersion = answer.ResourceVersion
	return nil
}

// conflictKept is how long the condition InstallationConflict stays after another installation has written it. Who still watches
// the namespace writes it again.
const conflictKept = time.Hour

// dropOldConflict removes the condition InstallationConflict once it is old.
func dropOldConflict(conditions *[]metav1.Condition, now time.Time) {
	conflict := meta.FindStatusCondition(*conditions, v1alpha1.ConditionInstallationConflict)
	if conflict != nil && now.Sub(conflict.LastTransitionTime.Time) > conflictKept {
		meta.RemoveStatusCondition(conditions, conflict.Type)
	}
}

// ownerChanged passes the changes of a status that make a sandbox another installation's, or this one's, or that remove the
// condition of a sandbox of another installation.
func (r *Reconciler) ownerChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1alpha1.SandboxEnvironment), e.ObjectNew.(*v1alpha1.SandboxEnvironment)
		if before.Status.Installation != after.Status.Installation {
			return after.Status.Installation != r.Installation
		}
		return reconciler.IsForeign(after, r.Installation) &&
			meta.FindStatusCondition(after.Status.Conditions, v1alpha1.ConditionInstallationConflict) == nil
	}}
}
