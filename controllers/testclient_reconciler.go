package controllers

import (
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
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

// testClientObservation is the result of a reconciliation.
type testClientObservation struct {
	config       sandboxes.TestClientConfig
	state        *sandboxes.TestClientState // nil: not known
	unregistered bool                       // no sandbox has the number for this TestClient
	unused       string                     // a sentence about a market that the sandbox does not have; may be empty
	err          error
}

// Indexes of TestClients. The first has the name of the selectable field: the same selector works for the cache and for the API
// server.
const (
	testClientBySandbox = "spec.sandboxRef.name"
	testClientByNumber  = "cauri.dev/sandbox-msisdn"
)

// sandboxOf returns the key of the sandbox that a TestClient belongs to.
func sandboxOf(testClient *v1alpha1.TestClient) client.ObjectKey {
	return client.ObjectKey{Namespace: testClient.Namespace, Name: testClient.Spec.SandboxRef.Name}
}

// isRegistered reports whether a TestClient counts in its sandbox.
func isRegistered(testClient *v1alpha1.TestClient) bool { return testClient.Status.Balance != nil }
