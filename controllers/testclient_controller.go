package controllers

import (
	"context"
	"errors"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
)

// +kubebuilder:rbac:groups=cauri.dev,resources=testclients,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cauri.dev,resources=testclients/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile reconciles one TestClient.
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
		return r.pace.next(seen.err) // no status is written yet, because the sandbox was created with this TestClient
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

// finish writes the status if it changed, and returns when the TestClient is reconciled again.
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
