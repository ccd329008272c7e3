package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// sandboxReconciler makes the database and the credentials Secret follow a SandboxEnvironment.
type sandboxReconciler struct {
	client.Client                 // reads from the cache, which holds only the controller's own Secrets
	apiReader       client.Reader // reads from the API server, for what is not in the cache or may be newer
	cache           client.Reader // reads from the cache without waiting for the controller's own writes
	limit           *resourceLimit
	maxTestClients  int // in a sandbox, 0: no limit
	gate            databaseGate
	writes          admission
	database        Database
	baseURL         *url.URL
	random          io.Reader
	signingSecret   string
	callbackHosts   []string
	clock           clock.PassiveClock
	recorder        events.EventRecorder
	pace            pace
	checkedVersions secretVersions
}

// +kubebuilder:rbac:groups=cauri.dev,resources=sandboxenvironments,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=cauri.dev,resources=sandboxenvironments/status,verbs=patch
// +kubebuilder:rbac:groups=cauri.dev,resources=sandboxenvironments/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// sandboxSteps are the conditions that Ready sums up, in the order of the steps that decide them.
var sandboxSteps = []string{
	v1alpha1.ConditionSpecAccepted,
	v1alpha1.ConditionDatabaseReady,
	v1alpha1.ConditionCredentialsReady,
}

// announcedConditions are those whose changes make events.
var announcedConditions = []string{
	v1alpha1.ConditionReady,
	v1alpha1.ConditionOperatorCredentialsReady,
	v1alpha1.ConditionWebhookReady,
}

// sandboxObservation is the result of a reconciliation. Each step adds to it.
type sandboxObservation struct {
	config           sandboxes.Config
	state            *sandboxes.SandboxState // nil: this step was not reached
	secretName       string                  // of the credentials Secret; empty: it is not written yet
	keyRotation      string                  // value of the spec that its API key was issued for
	keyRotationGrace time.Duration
	progress         progress

	operatorProblem *operatorProblem // the first one with a Secret for an operator; nil for none
}

// Reconcile brings one SandboxEnvironment forward.
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
	if err := addFinalizer(ctx, r.Client, sandbox, v1alpha1.SandboxFinalizer); err != nil {
		return r.pace.next(err)
	}
	seen := r.reconcileSteps(ctx, sandbox)
	return r.finish(ctx, sandbox, seen)
}

// reconcileSteps runs the steps in order, up to the first that fails.
func (r *sandboxReconciler) reconcileSteps(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) sandboxObservation {
	seen := sandboxObservation{progress: progress{steps: sandboxSteps, suspended: sandbox.Spec.Suspend}}
	for _, step := range []func(context.Context, *v1alpha1.SandboxEnvironment, *sandboxObservation) error{
		r.reconcileSpec,
		r.reconcileDatabase,
		r.reconcileCredentials,
	} {
		if seen.progress.err = step(ctx, sandbox, &seen); seen.progress.err != nil {
			break
		}
		seen.progress.done++
	}
	if state := seen.state; state != nil {
		if state.Quota.Exceeded() {
			seen.progress.quota = state.Quota
		}
		if state.Clock.StartWaits {
			seen.progress.start = sandbox.Spec.Clock.Start
		}
	}
	if reasonOf(seen.progress.err) == v1alpha1.ReasonDatabaseUnavailable {
		// Whichever step needed the database: DatabaseReady says that it is unavailable.
		seen.progress.done = slices.Index(sandboxSteps, v1alpha1.ConditionDatabaseReady)
	}
	return seen
}

// finish writes the status, if it changed, and decides when the sandbox is reconciled again.
func (r *sandboxReconciler) finish(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen sandboxObservation,
) (ctrl.Result, error) {
	if interrupted(ctx) {
		return ctrl.Result{}, fmt.Errorf("reconciling %s: %w", client.ObjectKeyFromObject(sandbox), context.Cause(ctx))
	}
	if errors.Is(seen.progress.err, errSpecChanged) {
		return r.pace.next(seen.progress.err)
	}
	before := sandbox.DeepCopy()
	sandbox.Status = sandboxStatus(sandbox, seen, r.sandboxURL(sandbox), r.clock.Now())
	if err := patchStatus(ctx, r.Client, r.writes, before, sandbox); err != nil {
		return r.pace.next(err)
	}
	for _, kind := range announcedConditions {
		announce(r.recorder, sandbox, kind, before.Status.Conditions, sandbox.Status.Conditions)
	}
	result, err := r.pace.next(seen.progress.err)
	return r.wake(sandbox, seen.state, result, err)
}

// sandboxURL is the base URL of a sandbox's API. Both names are DNS labels: nothing needs to be escaped.
func (r *sandboxReconciler) sandboxURL(sandbox *v1alpha1.SandboxEnvironment) string {
	return r.baseURL.JoinPath("sandboxes", sandbox.Namespace, sandbox.Name).String()
}
