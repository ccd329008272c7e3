package controllers

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// testClientReconciler makes the database's SIM registry follow a TestClient.
type testClientReconciler struct {
	client.Client
	apiReader  client.Reader // reads from the API server, for what may be newer than the cache
	cache      client.Reader // reads from the cache without waiting for the controller's own writes
	limit      *resourceLimit
	database   Database
	gate       databaseGate
	liveStatus *resync.LiveStatus // reconciles a sandbox when its number of TestClients changes
	clock      clock.PassiveClock
	recorder   events.EventRecorder
	pace       pace
}

// +kubebuilder:rbac:groups=cauri.dev,resources=testclients,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cauri.dev,resources=testclients/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// testClientObservation is the result of a reconciliation.
type testClientObservation struct {
	config       sandboxes.TestClientConfig
	state        *sandboxes.TestClientState // nil: not known
	unregistered bool                       // no sandbox has the number for this TestClient
	unused       string                     // a sentence about a market that the sandbox does not have; may be empty
	err          error
}

// Reconcile brings one TestClient forward.
func (r *testClientReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	testClient := &v1alpha1.TestClient{}
	if err := r.Get(ctx, req.NamespacedName, testClient); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !testClient.DeletionTimestamp.IsZero() {
		return r.reconcileDeletion(ctx, testClient)
	}
	if err := addFinalizer(ctx, r.Client, testClient, v1alpha1.TestClientFinalizer); err != nil {
		return r.pace.next(err)
	}
	seen := r.reconcileRegistration(ctx, testClient)
	switch {
	case errors.Is(seen.err, errSandboxUnseen) && !isObserved(testClient.Status.ObservedGeneration):
		return r.pace.next(seen.err) // the sandbox was created together with it: too early for a status
	case errors.Is(seen.err, errSpecChanged):
		return r.pace.next(seen.err)
	}
	return r.finish(ctx, testClient, seen)
}

// reconcileDeletion deletes the SIM and then removes the finalizer.
func (r *testClientReconciler) reconcileDeletion(ctx context.Context, testClient *v1alpha1.TestClient) (ctrl.Result, error) {
	if !hasFinalizer(testClient, v1alpha1.TestClientFinalizer) {
		return ctrl.Result{}, nil
	}
	err := r.gate.check(ctx, resync.OfTestClient(testClient))
	if err == nil {
		err = databaseFailure(r.database.DeleteTestClient(ctx, string(testClient.UID)))
	}
	if err != nil {
		return r.finish(ctx, testClient, testClientObservation{err: deletionFailure(err)})
	}
	r.liveStatus.Touch(sandboxOf(testClient))
	if err := removeFinalizer(ctx, r.Client, testClient, v1alpha1.TestClientFinalizer); err != nil {
		return r.pace.next(err)
	}
	return ctrl.Result{}, nil
}

// finish writes the status, if it changed, and decides when the TestClient is reconciled again.
func (r *testClientReconciler) finish(
	ctx context.Context, testClient *v1alpha1.TestClient, seen testClientObservation,
) (ctrl.Result, error) {
	if interrupted(ctx) {
		return ctrl.Result{}, fmt.Errorf("reconciling %s: %w", client.ObjectKeyFromObject(testClient), context.Cause(ctx))
	}
	before := testClient.DeepCopy()
	testClient.Status = testClientStatus(testClient, seen, r.clock.Now())
	if err := patchStatus(ctx, r.Client, r.liveStatus, before, testClient); err != nil {
		return r.pace.next(err)
	}
	if isRegistered(before) != isRegistered(testClient) {
		r.liveStatus.Touch(sandboxOf(testClient))
	}
	announce(r.recorder, testClient, v1alpha1.ConditionReady, before.Status.Conditions, testClient.Status.Conditions)
	return r.pace.next(seen.err)
}

// isRegistered reports whether a TestClient counts in its sandbox.
func isRegistered(testClient *v1alpha1.TestClient) bool { return testClient.Status.Balance != nil }

// sandboxOf is the key of the sandbox that a TestClient belongs to.
func sandboxOf(testClient *v1alpha1.TestClient) client.ObjectKey {
	return client.ObjectKey{Namespace: testClient.Namespace, Name: testClient.Spec.SandboxRef.Name}
}
