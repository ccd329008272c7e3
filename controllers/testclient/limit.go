package testclient

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// testClientsOfSandbox returns a function that lists all TestClients in the sandbox of a TestClient.
func testClientsOfSandbox(cache client.Reader) func(context.Context, client.Object) ([]reconciler.Candidate, error) {
	return func(ctx context.Context, beside client.Object) ([]reconciler.Candidate, error) {
		var list v1alpha1.TestClientList
		sandbox := sandboxOf(beside.(*v1alpha1.TestClient))
		err := cache.List(ctx, &list, client.InNamespace(sandbox.Namespace), client.MatchingFields{bySandbox: sandbox.Name},
			client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing the TestClients of the sandbox: %w", err)
		}
		all := make([]reconciler.Candidate, len(list.Items))
		for i := range list.Items {
			all[i] = candidate(&list.Items[i])
		}
		return all, nil
	}
}

func candidate(testClient *v1alpha1.TestClient) reconciler.Candidate {
	return reconciler.Candidate{Object: testClient, Accepted: isRegistered(testClient)}
}

// checkLimit returns a stalling error for a TestClient beyond the limit of its sandbox.
func (r *Reconciler) checkLimit(ctx context.Context, testClient *v1alpha1.TestClient) error {
	accepted, err := r.Limit.Accept(sandboxOf(testClient).String(), candidate(testClient), func() ([]reconciler.Candidate, error) {
		return testClientsOfSandbox(r.Cache)(ctx, testClient)
	})
	return reconciler.LimitError(accepted, err, "Cauri allows at most %d TestClients in a sandbox: delete one that you do not need, or ask your "+
		"platform team for a higher --max-test-clients-per-sandbox. This one becomes ready by itself when there is room.", r.Limit.Max)
}
