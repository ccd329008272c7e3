package sandboxenvironment

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
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	sandbox := &v1alpha1.SandboxEnvironment{}
	if err := r.Get(ctx, req.NamespacedName, sandbox); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if reconciler.IsForeign(sandbox, r.Installation) {
		return r.leave(ctx, sandbox)
	}
	if !sandbox.DeletionTimestamp.IsZero() {
		return r.reconcileDeletion(ctx, sandbox)
	}
	if Expired(sandbox, r.Clock.Now()) {
		return r.expire(ctx, sandbox)
	}
	if err := r.claim(ctx, sandbox); err != nil {
		return r.Pace.Next(err)
	}
	if err := reconciler.AddFinalizer(ctx, r.Client, sandbox, v1alpha1.SandboxFinalizer); err != nil {
		return r.Pace.Next(err)
	}
	seen := r.reconcileSteps(ctx, sandbox)
	return r.finish(ctx, sandbox, seen)
}

// reconcileSteps executes the steps in order, and stops at the first error.
func (r *Reconciler) reconcileSteps(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) Observation {
	seen := Observation{Progress: reconciler.Progress{Steps: Steps, Suspended: sandbox.Spec.Suspend, Disabled: allDisabled(sandbox.Spec)}}
	for _, step := range []func(context.Context, *v1alpha1.SandboxEnvironment, *Observation) error{
		r.reconcileSpec,
		r.reconcileDatabase,
		r.reconcileCredentials,
	} {
		if seen.Progress.Err = step(ctx, sandbox, &seen); seen.Progress.Err != nil {
			break
		}
		seen.Progress.Done++
	}
	if state := seen.State; state != nil {
		if state.Quota.Exceeded() {
			seen.Progress.Quota = state.Quota
		}
		if state.Clock.StartWaits {
			seen.Progress.Start = sandbox.Spec.Clock.Start
		}
	}
	if reconciler.ReasonOf(seen.Progress.Err) == v1alpha1.ReasonDatabaseUnavailable {
		// If any step fails because the database is unavailable, DatabaseReady reports the error.
		seen.Progress.Done = slices.Index(Steps, v1alpha1.ConditionDatabaseReady)
	}
	return seen
}
