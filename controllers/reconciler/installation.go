package reconciler

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// IsForeign reports whether another installation than this one serves a sandbox.
func IsForeign(sandbox *v1alpha1.SandboxEnvironment, installation string) bool {
	return sandbox.Status.Installation != "" && sandbox.Status.Installation != installation
}

// IsOfForeignSandbox reports whether another installation serves the sandbox of this key, and so the resources that name it. It
// returns false for a sandbox that the cache does not have.
func IsOfForeignSandbox(ctx context.Context, cache client.Reader, key client.ObjectKey, installation string) bool {
	sandbox := &v1alpha1.SandboxEnvironment{}
	return cache.Get(ctx, key, sandbox) == nil && IsForeign(sandbox, installation)
}
