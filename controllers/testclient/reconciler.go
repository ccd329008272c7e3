package testclient

import (
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Reconciler writes a TestClient to the SIM registry of the database.
type Reconciler struct {
	Installation string // name of this installation
	client.Client
	APIReader  client.Reader // reads from the API server, if the cache may be stale
	Cache      client.Reader // reads from the cache, and does not wait for the controller's own writes
	Limit      *reconciler.ResourceLimit
	Database   reconciler.Database
	Gate       reconciler.DatabaseGate
	LiveStatus *resync.LiveStatus // reconciles a sandbox when its number of TestClients changes
	Clock      clock.PassiveClock
	Recorder   events.EventRecorder
	Pace       reconciler.Pace
	deleted    reconciler.DeletedResources[*v1alpha1.TestClient]
}

// Observation is the result of a reconciliation.
type Observation struct {
	config       sandboxes.TestClientConfig
	state        *sandboxes.TestClientState // nil: not read
	unregistered bool                       // whether the SIM registry of no sandbox has the SIM
	unused       string                     // a sentence about a market that the sandbox does not have; may be empty
	Err          error
}

// Indexes of TestClients. The first has the name of the CRD's selectable field, so that the same selector works with
// the cache and the API server.
const (
	bySandbox = "spec.sandboxRef.name"
	byNumber  = "cauri.dev/sandbox-msisdn"
)

// sandboxOf returns the key of the sandbox that a TestClient belongs to.
func sandboxOf(testClient *v1alpha1.TestClient) client.ObjectKey {
	return client.ObjectKey{Namespace: testClient.Namespace, Name: testClient.Spec.SandboxRef.Name}
}

// isRegistered reports whether the SIM of a TestClient is registered with its sandbox.
func isRegistered(testClient *v1alpha1.TestClient) bool { return testClient.Status.Balance != nil }
