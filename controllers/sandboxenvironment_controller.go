package controllers

import (
	"context"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// +kubebuilder:rbac:groups=cauri.dev,resources=sandboxenvironments,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=cauri.dev,resources=sandboxenvironments/status,verbs=patch
// +kubebuilder:rbac:groups=cauri.dev,resources=sandboxenvironments/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile reconciles one SandboxEnvironment.
func (r *sandboxReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	sandbox := &v1alpha1.SandboxEnvironment{}
	if err := r.Get(ctx, req.NamespacedName, sandbox); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !sandbox.DeletionTimestamp.IsZero() {
		return r.reconcileDeletion(ctx, sandbox)
	}
	if Expired(sandbox, r.clock.Now()) {
		return r.expire(ctx, sandbox)
	}
	if err := reconciler.AddFinalizer(ctx, r.Client, sandbox, v1alpha1.SandboxFinalizer); err != nil {
		return r.pace.Next(err)
	}
	seen := r.reconcileSteps(ctx, sandbox)
	return r.finish(ctx, sandbox, seen)
}

// reconcileSteps executes the steps in order, and stops at the first error.
func (r *sandboxReconciler) reconcileSteps(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) sandboxObservation {
	seen := sandboxObservation{progress: reconciler.Progress{Steps: sandboxSteps, Suspended: sandbox.Spec.Suspend}}
	for _, step := range []func(context.Context, *v1alpha1.SandboxEnvironment, *sandboxObservation) error{
		r.reconcileSpec,
		r.reconcileDatabase,
		r.reconcileCredentials,
	} {
		if seen.progress.Err = step(ctx, sandbox, &seen); seen.progress.Err != nil {
			break
		}
		seen.progress.Done++
	}
	if state := seen.state; state != nil {
		if state.Quota.Exceeded() {
			seen.progress.Quota = state.Quota
		}
		if state.Clock.StartWaits {
			seen.progress.Start = sandbox.Spec.Clock.Start
		}
	}
	if reconciler.ReasonOf(seen.progress.Err) == v1alpha1.ReasonDatabaseUnavailable {
		// If any step fails because the database is unavailable, DatabaseReady reports the error.
		seen.progress.Done = slices.Index(sandboxSteps, v1alpha1.ConditionDatabaseReady)
	}
	return seen
}
