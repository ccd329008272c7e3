package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// deletionRetain is the deletionPolicy that keeps a sandbox's rows.
const deletionRetain = "Retain"

// eventExpired is the reason of the event when the ttl of a sandbox ends.
const eventExpired = "Expired"

// expiry is when a sandbox deletes itself, nil for one without a ttl. reconcileSpec reports an invalid ttl.
func expiry(sandbox *v1alpha1.SandboxEnvironment) *time.Time {
	if sandbox.Spec.TTL == "" {
		return nil
	}
	ttl, err := duration("spec.ttl", sandbox.Spec.TTL, "")
	if err != nil {
		return nil
	}
	// In whole seconds, like the time of creation and the status.
	at := sandbox.CreationTimestamp.Add(ttl).Truncate(time.Second)
	return &at
}

// Expired reports whether the ttl of a sandbox has ended: the controller deletes it.
func Expired(sandbox *v1alpha1.SandboxEnvironment, now time.Time) bool {
	at := expiry(sandbox)
	return at != nil && !now.Before(*at)
}

// expire deletes a sandbox whose ttl has ended. The deletion requires the version that was read, in case somebody has just changed
// the ttl.
func (r *sandboxReconciler) expire(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (ctrl.Result, error) {
	err := r.Delete(ctx, sandbox, client.Preconditions{UID: &sandbox.UID, ResourceVersion: &sandbox.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return r.pace.next(fmt.Errorf("deleting the sandbox, whose ttl has ended: %w", err))
	}
	if err == nil {
		r.recorder.Eventf(sandbox, nil, corev1.EventTypeNormal, eventExpired, actionExpire,
			"The ttl of %s has ended: the sandbox deletes itself.", sandbox.Spec.TTL)
	}
	return ctrl.Result{}, nil
}

// wake reconciles a sandbox when it expires and when its quota begins again, if that is before the next reconciliation.
func (r *sandboxReconciler) wake(
	sandbox *v1alpha1.SandboxEnvironment, state *sandboxes.SandboxState, result ctrl.Result, err error,
) (ctrl.Result, error) {
	if err != nil || !sandbox.DeletionTimestamp.IsZero() {
		return result, err
	}
	soonest := func(at *time.Time, least time.Duration) {
		if at == nil {
			return
		}
		if left := max(at.Sub(r.clock.Now()), least); result.RequeueAfter == 0 || left < result.RequeueAfter {
			result.RequeueAfter = left
		}
	}
	soonest(expiry(sandbox), time.Millisecond)
	soonest(renewal(state), renewalPause)
	return result, err
}

// renewalPause is between two looks at a quota that should begin again. The month ends by the clock of the database, and that of this
// machine may be ahead of it.
const renewalPause = time.Second

// renewal is when a quota begins again that was used; nil: never, or when somebody advances a manual clock, which is noticed.
func renewal(state *sandboxes.SandboxState) *time.Time {
	if state == nil || state.Quota == nil || state.Quota.Used == 0 || state.Clock.Mode == sandboxes.ManualClock {
		return nil
	}
	return new(state.Quota.RenewsAt.Add(-state.Clock.Ahead))
}

// reconcileDeletion applies the deletionPolicy and then removes the finalizer. While it waits, a condition says why.
func (r *sandboxReconciler) reconcileDeletion(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (ctrl.Result, error) {
	if !hasFinalizer(sandbox, v1alpha1.SandboxFinalizer) {
		return ctrl.Result{}, nil
	}
	deletion := progress{steps: []string{v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionCredentialsReady}}
	if deletion.err = r.deleteOrRetainRows(ctx, sandbox); deletion.err != nil {
		return r.finish(ctx, sandbox, sandboxObservation{progress: deletion})
	}
	deletion.done++
	if deletion.err = deletionFailure(r.deleteSecrets(ctx, sandbox, "")); deletion.err != nil {
		return r.finish(ctx, sandbox, sandboxObservation{progress: deletion})
	}
	if err := removeFinalizer(ctx, r.Client, sandbox, v1alpha1.SandboxFinalizer); err != nil {
		return r.pace.next(err)
	}
	return ctrl.Result{}, nil
}

// deleteOrRetainRows deletes the sandbox's rows, or revokes its keys and keeps the rows.
func (r *sandboxReconciler) deleteOrRetainRows(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) error {
	if err := r.gate.check(ctx, resync.OfSandbox(sandbox)); err != nil {
		return deletionFailure(err)
	}
	// Deleted rows cannot be restored: the deletionPolicy must be the current one.
	if err := checkSpecIsCurrent(ctx, r.apiReader, sandbox); err != nil {
		return deletionFailure(err)
	}
	remove := r.database.DeleteSandbox
	if sandbox.Spec.DeletionPolicy == deletionRetain {
		remove = r.database.RetainSandbox
	}
	return deletionFailure(databaseFailure(remove(ctx, string(sandbox.UID))))
}

// seconds is t in whole seconds, as the API server stores it.
func seconds(t *time.Time) *metav1.Time {
	if t == nil {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}
