package sandboxenvironment

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// sandboxesOfNamespace returns a function that lists all sandboxes in the namespace of a sandbox. The objects belong to
// the cache, so callers must not change them.
func sandboxesOfNamespace(cache client.Reader) func(context.Context, client.Object) ([]reconciler.Candidate, error) {
	return func(ctx context.Context, beside client.Object) ([]reconciler.Candidate, error) {
		var list v1alpha1.SandboxEnvironmentList
		if err := cache.List(ctx, &list, client.InNamespace(beside.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing the SandboxEnvironments of the namespace: %w", err)
		}
		all := make([]reconciler.Candidate, len(list.Items))
		for i := range list.Items {
			all[i] = candidate(&list.Items[i])
		}
		return all, nil
	}
}

func candidate(sandbox *v1alpha1.SandboxEnvironment) reconciler.Candidate {
	return reconciler.Candidate{Object: sandbox, Accepted: sandbox.Status.OrganizationID != ""}
}

// checkLimit returns a stalling error for a sandbox beyond the limit of its namespace.
func (r *Reconciler) checkLimit(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) error {
	accepted, err := r.Limit.Accept(sandbox.Namespace, candidate(sandbox), func() ([]reconciler.Candidate, error) {
		return sandboxesOfNamespace(r.Cache)(ctx, sandbox)
	})
	return reconciler.LimitError(accepted, err, "Cauri allows at most %d SandboxEnvironments in a namespace: delete one that you do not need, or ask "+
		"your platform team for a higher --max-sandboxes-per-namespace. This one becomes ready by itself when there is room.", r.Limit.Max)
}
