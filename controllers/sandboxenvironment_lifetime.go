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
)

// deletionRetain is the deletionPolicy that leaves a sandbox's rows where they are.
const deletionRetain = "Retain"

// eventExpired is the reason of the event about a sandbox whose ttl is over.
const eventExpired = "Expired"

// expiry is when a sandbox deletes itself, nil for one without a ttl. A ttl that is none is reported by reconcileSpec.
func expiry(sandbox *v1alpha1.SandboxEnvironment) *time.Time {
	if sandbox.Spec.TTL == "" {
		return nil
	}
	ttl, err := duration("spec.ttl", sandbox.Spec.TTL, "")
	if err != nil {
		return nil
	}
	// The status holds whole seconds, as the time of creation does: both say the same.
	at := sandbox.CreationTimestamp.Add(ttl).Truncate(time.Second)
	return &at
}

// expire deletes a sandbox whose ttl is over. It holds for the version that was read: a ttl that was changed or taken away in
// the instant between is looked at again.
func (r *sandboxReconciler) expire(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (ctrl.Result, error) {
	err := r.Delete(ctx, sandbox, client.Preconditions{UID: &sandbox.UID, ResourceVersion: &sandbox.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return r.pace.next(fmt.Errorf("deleting the sandbox, whose ttl is over: %w", err))
	}
	if err == nil {
		r.recorder.Eventf(sandbox, nil, corev1.EventTypeNormal, eventExpired, actionExpire,
			"The ttl of %s has ended: the sandbox deletes itself.", sandbox.Spec.TTL)
	}
	return ctrl.Result{}, nil
}

// wake has a sandbox looked at when it expires, if that is before anything else.
func (r *sandboxReconciler) wake(sandbox *v1alpha1.SandboxEnvironment, result ctrl.Result, err error) (ctrl.Result, error) {
	at := expiry(sandbox)
	if at == nil || err != nil || !sandbox.DeletionTimestamp.IsZero() {
		return result, err
	}
	if left := max(at.Sub(r.clock.Now()), time.Millisecond); result.RequeueAfter == 0 || left < result.RequeueAfter {
		result.RequeueAfter = left
	}
	return result, err
}

// reconcileDeletion does what the deletionPolicy says, and then lets the sandbox go. Whatever it waits for, a condition tells.
func (r *sandboxReconciler) reconcileDeletion(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (ctrl.Result, error) {
	if !hasFinalizer(sandbox, v1alpha1.SandboxFinalizer) {
		return ctrl.Result{}, nil
	}
	end := progress{steps: []string{v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionCredentialsReady}}
	if end.err = r.endRows(ctx, sandbox); end.err != nil {
		return r.finish(ctx, sandbox, sandboxObservation{progress: end})
	}
	end.done++
	if end.err = deletionFailure(r.deleteSecrets(ctx, sandbox, "")); end.err != nil {
		return r.finish(ctx, sandbox, sandboxObservation{progress: end})
	}
	if err := removeFinalizer(ctx, r.Client, sandbox, v1alpha1.SandboxFinalizer); err != nil {
		return r.pace.next(err)
	}
	return ctrl.Result{}, nil
}

// endRows removes the sandbox's rows, or revokes its keys and leaves them.
func (r *sandboxReconciler) endRows(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) error {
	if err := r.gate.check(ctx, resync.OfSandbox(sandbox)); err != nil {
		return deletionFailure(err)
	}
	if err := checkSpecIsPresent(ctx, r.apiReader, sandbox); err != nil { // the policy may have changed, and nothing brings rows back
		return deletionFailure(err)
	}
	end := r.database.DeleteSandbox
	if sandbox.Spec.DeletionPolicy == deletionRetain {
		end = r.database.RetainSandbox
	}
	return deletionFailure(databaseFailure(end(ctx, string(sandbox.UID))))
}

// seconds is t in whole seconds, as the API server stores it.
func seconds(t *time.Time) *metav1.Time {
	if t == nil {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}
