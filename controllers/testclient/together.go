package testclient

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// WaitingFor returns the TestClients that wait for a new sandbox, and their SIMs. The SIMs are registered together with
// the sandbox, so that its first status counts them. It leaves out the TestClients that would not become ready: their own
// reconciliation reports why. The TestClients belong to the cache, so callers must not change them.
func (r *Reconciler) WaitingFor(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment,
) (waiting []*v1alpha1.TestClient, sims []sandboxes.TestClientConfig) {
	var list v1alpha1.TestClientList
	named := client.MatchingFields{bySandbox: sandbox.Name}
	err := r.Cache.List(ctx, &list, client.InNamespace(sandbox.Namespace), named, client.UnsafeDisableDeepCopy)
	if err != nil { // only when the cache stops
		return nil, nil
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.TestClient) int { return reconciler.ByAge(&a, &b) })
	numbers := map[string]bool{}
	for i := range list.Items {
		testClient := &list.Items[i]
		sim, err := SIMConfig(sandbox, testClient)
		if err != nil || !testClient.DeletionTimestamp.IsZero() || numbers[sim.MSISDN] || r.checkLimit(ctx, testClient) != nil {
			continue
		}
		numbers[sim.MSISDN] = true
		waiting, sims = append(waiting, testClient), append(sims, sim)
	}
	return waiting, sims
}

// DeleteGone deletes the SIMs of those TestClients that were deleted while their sandbox was applied. Their delete event
// may have come before their SIM was there.
func (r *Reconciler) DeleteGone(ctx context.Context, registered []*v1alpha1.TestClient) {
	for _, testClient := range registered {
		present := &v1alpha1.TestClient{}
		err := r.Cache.Get(ctx, client.ObjectKeyFromObject(testClient), present)
		if err == nil && present.UID == testClient.UID && present.DeletionTimestamp.IsZero() {
			continue
		}
		r.deleted.Add(testClient)
		r.LiveStatus.Enqueue(ctx, resync.OfTestClient(testClient))
	}
}
