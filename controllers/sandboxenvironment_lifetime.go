package controllers

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
)

// deletionRetain is the deletionPolicy that keeps a sandbox's rows.
const deletionRetain = "Retain"

// reconcileDeletion applies the deletionPolicy and then removes the finalizer. If it has to wait, a condition has the
// reason.
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
	// The deletionPolicy must not be stale, because deleted rows cannot be restored.
	if err := checkSpecIsCurrent(ctx, r.apiReader, sandbox); err != nil {
		return deletionFailure(err)
	}
	remove := r.database.DeleteSandbox
	if sandbox.Spec.DeletionPolicy == deletionRetain {
		remove = r.database.RetainSandbox
	}
	return deletionFailure(databaseFailure(remove(ctx, string(sandbox.UID))))
}
