package testclient

import (
	"context"
	"errors"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// +kubebuilder:rbac:groups=cauri.dev,resources=testclients,verbs=get;list;watch
// +kubebuilder:rbac:groups=cauri.dev,resources=testclients/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile reconciles one TestClient, and deletes the SIMs of deleted TestClients of its name.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	testClient := &v1alpha1.TestClient{}
	err := r.Get(ctx, req.NamespacedName, testClient)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	lives := err == nil && testClient.DeletionTimestamp.IsZero()
	if err == nil && !lives {
		r.deleted.Add(testClient)
	}
	left := r.deleteSIMs(ctx, req.NamespacedName)
	if lives && !reconciler.IsOfForeignSandbox(ctx, r.Client, sandboxOf(testClient), r.Installation) {
		result, err := r.reconcile(ctx, testClient)
		if left == nil || err != nil {
			return result, err
		}
	}
	if left != nil {
		return r.Pace.Next(left)
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) reconcile(ctx context.Context, testClient *v1alpha1.TestClient) (ctrl.Result, error) {
	seen := r.reconcileRegistration(ctx, testClient)
	switch {
	case errors.Is(seen.Err, reconciler.ErrSandboxUnseen) && !reconciler.IsObserved(testClient.Status.ObservedGeneration):
		return r.Pace.Next(seen.Err) // no status is written yet, because the sandbox was created with this TestClient
	case errors.Is(seen.Err, reconciler.ErrSpecChanged):
		return r.Pace.Next(seen.Err)
	}
	return r.finish(ctx, testClient, seen)
}

// deleteSIMs deletes the SIMs of deleted TestClients of a name. If it returns an error, it remembers those that are left.
func (r *Reconciler) deleteSIMs(ctx context.Context, key client.ObjectKey) (err error) {
	left := r.deleted.Take(key)
	if len(left) > 0 {
		err = r.Gate.Check(ctx, resync.Change{Key: key, IsTestClient: true})
	}
	for err == nil && len(left) > 0 {
		if err = reconciler.DatabaseFailure(r.Database.DeleteTestClient(ctx, string(left[0].UID))); err == nil {
			r.LiveStatus.Touch(sandboxOf(left[0]))
			left = left[1:]
		}
	}
	r.deleted.Add(left...)
	return err
}

// Orphaned deletes the SIM of a TestClient that was deleted while no controller ran. It asks the API server first,
// because the cache may be stale.
func (r *Reconciler) Orphaned(ctx context.Context, deleted *v1alpha1.TestClient) {
	holder := sandboxes.ErrDuplicateMSISDN{Holder: deleted.Name, HolderUID: string(deleted.UID)}
	if exists, err := r.exists(ctx, deleted.Namespace, holder); err != nil || exists {
		return // the next check for drift finds it again
	}
	r.deleted.Add(deleted)
	r.LiveStatus.Enqueue(ctx, resync.OfTestClient(deleted))
}

// finish writes the status if it changed, and returns when the TestClient is reconciled again.
func (r *Reconciler) finish(
	ctx context.Context, testClient *v1alpha1.TestClient, seen Observation,
) (ctrl.Result, error) {
	if reconciler.Interrupted(ctx) {
		return ctrl.Result{}, fmt.Errorf("reconciling %s: %w", client.ObjectKeyFromObject(testClient), context.Cause(ctx))
	}
	before := testClient.DeepCopy()
	testClient.Status = Status(testClient, seen, r.Clock.Now())
	if seen.state != nil && seen.state.New || isRegistered(before) && !isRegistered(testClient) {
		r.LiveStatus.Touch(sandboxOf(testClient))
	}
	if err := reconciler.PatchStatus(ctx, r.Client, r.LiveStatus, before, testClient); err != nil {
		return r.Pace.Next(err)
	}
	reconciler.Announce(r.Recorder, testClient, v1alpha1.ConditionReady, before.Status.Conditions, testClient.Status.Conditions)
	return r.Pace.Next(seen.Err)
}
