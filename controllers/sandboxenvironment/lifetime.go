package sandboxenvironment

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	err := r.deleteSecrets(ctx, sandbox, "")
	if apierrors.IsForbidden(err) && r.isEnding(ctx, sandbox.Namespace) {
		err = nil // the namespace takes its Secrets with it, and has taken the right to delete them
	}
	if deletion.Err = reconciler.DeletionFailure(err); deletion.Err != nil {
		return r.finish(ctx, sandbox, Observation{Progress: deletion})
	}
	if err := reconciler.RemoveFinalizer(ctx, r.Client, sandbox, v1alpha1.SandboxFinalizer); err != nil {
		return r.Pace.Next(err)
	}
	return ctrl.Result{}, nil
}

// isEnding reports whether a namespace is being deleted. Without the right to know, it returns false.
func (r *Reconciler) isEnding(ctx context.Context, name string) bool {
	namespace := &corev1.Namespace{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Name: name}, namespace)
	return apierrors.IsNotFound(err) || err == nil && !namespace.DeletionTimestamp.IsZero()
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
