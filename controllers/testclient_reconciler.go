package controllers

import (
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// testClientReconciler writes a TestClient to the SIM registry of the database.
type testClientReconciler struct {
	client.Client
	apiReader  client.Reader // reads from the API server, if the cache may be stale
	cache      client.Reader // reads from the cache, and does not wait for the controller's own writes
	limit      *reconciler.ResourceLimit
	database   reconciler.Database
	gate       reconciler.DatabaseGate
	liveStatus *resync.LiveStatus // reconciles a sandbox when its number of TestClients changes
	clock      clock.PassiveClock
	recorder   events.EventRecorder
	pace       reconciler.Pace
	deleted    reconciler.DeletedResources[*v1alpha1.TestClient]
}

// testClientObservation is the result of a reconciliation.
type testClientObservation struct {
	config       sandboxes.TestClientConfig
	state        *sandboxes.TestClientState // nil: not read
	unregistered bool                       // whether the SIM registry of no sandbox has the SIM
	unused       string                     // a sentence about a market that the sandbox does not have; may be empty
	err          error
}

// Indexes of TestClients. The first has the name of the CRD's selectable field, so that the same selector works with
// the cache and the API server.
const (
	testClientBySandbox = "spec.sandboxRef.name"
	testClientByNumber  = "cauri.dev/sandbox-msisdn"
)

// sandboxOf returns the key of the sandbox that a TestClient belongs to.
func sandboxOf(testClient *v1alpha1.TestClient) client.ObjectKey {
	return client.ObjectKey{Namespace: testClient.Namespace, Name: testClient.Spec.SandboxRef.Name}
}

// isRegistered reports whether the SIM of a TestClient is registered with its sandbox.
func isRegistered(testClient *v1alpha1.TestClient) bool { return testClient.Status.Balance != nil }
