package sandboxenvironment

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
)

// deletionRetain is the deletionPolicy that keeps a sandbox's rows.
const deletionRetain = "Retain"

// reconcileDeletion applies the deletionPolicy and then removes the finalizer. If it has to wait, a condition has the
// reason.
func (r *Reconciler) reconcileDeletion(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (ctrl.Result, error) {
	if !reconciler.HasFinalizer(sandbox, v1alpha1.SandboxFinalizer) {
		return ctrl.Result{}, nil
	}
	deletion := reconciler.Progress{Steps: []string{v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionCredentialsReady}}
	if deletion.Err = r.deleteOrRetainRows(ctx, sandbox); deletion.Err != nil {
		return r.finish(ctx, sandbox, Observation{Progress: deletion})
	}
	deletion.Done++
	if deletion.Err = reconciler.DeletionFailure(r.deleteSecrets(ctx, sandbox, "")); deletion.Err != nil {
		return r.finish(ctx, sandbox, Observation{Progress: deletion})
	}
	if err := reconciler.RemoveFinalizer(ctx, r.Client, sandbox, v1alpha1.SandboxFinalizer); err != nil {
		return r.Pace.Next(err)
	}
	return ctrl.Result{}, nil
}

// deleteOrRetainRows deletes the sandbox's rows, or revokes its keys and keeps the rows.
func (r *Reconciler) deleteOrRetainRows(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) error {
	if err := r.Gate.Check(ctx, resync.OfSandbox(sandbox)); err != nil {
		return reconciler.DeletionFailure(err)
	}
	// The deletionPolicy must not be stale, because deleted rows cannot be restored.
	if err := reconciler.CheckSpecIsCurrent(ctx, r.APIReader, sandbox); err != nil {
		return reconciler.DeletionFailure(err)
	}
	remove := r.Database.DeleteSandbox
	if sandbox.Spec.DeletionPolicy == deletionRetain {
		remove = r.Database.RetainSandbox
	}
	return reconciler.DeletionFailure(reconciler.DatabaseFailure(remove(ctx, string(sandbox.UID))))
}
