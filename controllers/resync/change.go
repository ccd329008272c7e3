package resync

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Change identifies a resource to reconcile.
type Change struct {
	Key          client.ObjectKey
	IsTestClient bool
	// If IsTestClient and IsExpectation are both false, the resource is a sandbox.
	IsExpectation bool
}

// OfExpectation returns the Change that names an Expectation.
func OfExpectation(expectation *v1alpha1.Expectation) Change {
	return Change{Key: client.ObjectKeyFromObject(expectation), IsExpectation: true}
}

// OfSandbox returns the Change that names a sandbox.
func OfSandbox(sandbox *v1alpha1.SandboxEnvironment) Change {
	return Change{Key: client.ObjectKeyFromObject(sandbox)}
}

// OfTestClient returns the Change that names a TestClient.
func OfTestClient(testClient *v1alpha1.TestClient) Change {
	return Change{Key: client.ObjectKeyFromObject(testClient), IsTestClient: true}
}

// ofAccount returns the Change that names the resource whose status shows an account.
func ofAccount(account sandboxes.AccountChange) Change {
	if account.TestClient != "" {
		return Change{Key: client.ObjectKey{Namespace: account.Namespace, Name: account.TestClient}, IsTestClient: true}
	}
	return Change{Key: client.ObjectKey{Namespace: account.Namespace, Name: account.Sandbox}}
}
