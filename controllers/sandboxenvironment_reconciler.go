package controllers

import (
	"io"
	"net/url"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/testclient"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// sandboxReconciler writes a SandboxEnvironment to the database and to its credentials Secret.
type sandboxReconciler struct {
	client.Client                 // reads from the cache, which has only the controller's Secrets
	apiReader       client.Reader // reads from the API server, if the cache does not have an object or may be stale
	cache           client.Reader // reads from the cache, and does not wait for the controller's own writes
	limit           *reconciler.ResourceLimit
	maxTestClients  int // maximum in a sandbox; 0: no limit
	testClients     *testclient.Reconciler
	gate            reconciler.DatabaseGate
	writes          reconciler.Admission
	database        reconciler.Database
	baseURL         *url.URL
	random          io.Reader
	signingSecret   string
	callbackHosts   []string
	guard           egress.Guard
	clock           clock.PassiveClock
	recorder        events.EventRecorder
	pace            reconciler.Pace
	checkedVersions secretVersions
}

// sandboxSteps are the conditions that Ready summarizes, in the order of their steps.
var sandboxSteps = []string{
	v1alpha1.ConditionSpecAccepted,
	v1alpha1.ConditionDatabaseReady,
	v1alpha1.ConditionCredentialsReady,
}

// sandboxObservation is the result of a reconciliation. Each step adds to it.
type sandboxObservation struct {
	config           sandboxes.Config
	state            *sandboxes.SandboxState // nil: the database was not reached
	secretName       string                  // name of the credentials Secret; empty: not written yet
	keyRotation      string                  // spec.keyRotation when the API key was issued
	keyRotationGrace time.Duration
	progress         reconciler.Progress

	operatorProblem *operatorProblem // first problem with the access to an operator; nil for none
}

// operatorProblem is the reason why the credentials for an operator cannot be used. The sandbox works without them.
type operatorProblem struct {
	reason  string
	message string // constant over retries, because it is written to the status
}

func (e *operatorProblem) Error() string { return e.message }
