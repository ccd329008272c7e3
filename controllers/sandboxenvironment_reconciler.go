package controllers

import (
	"io"
	"net/url"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// sandboxReconciler makes the database and the credentials Secret follow a SandboxEnvironment.
type sandboxReconciler struct {
	client.Client                 // reads from the cache, which holds only the controller's own Secrets
	apiReader       client.Reader // reads from the API server, for what is not in the cache or may be newer
	cache           client.Reader // reads from the cache without waiting for the controller's own writes
	limit           *resourceLimit
	maxTestClients  int // in a sandbox, 0: no limit
	gate            databaseGate
	writes          admission
	database        Database
	baseURL         *url.URL
	random          io.Reader
	signingSecret   string
	callbackHosts   []string
	clock           clock.PassiveClock
	recorder        events.EventRecorder
	pace            pace
	checkedVersions secretVersions
}

// sandboxSteps are the conditions that Ready sums up, in the order of the steps that decide them.
var sandboxSteps = []string{
	v1alpha1.ConditionSpecAccepted,
	v1alpha1.ConditionDatabaseReady,
	v1alpha1.ConditionCredentialsReady,
}

// sandboxObservation is the result of a reconciliation. Each step adds to it.
type sandboxObservation struct {
	config           sandboxes.Config
	state            *sandboxes.SandboxState // nil: this step was not reached
	secretName       string                  // of the credentials Secret; empty: it is not written yet
	keyRotation      string                  // value of the spec that its API key was issued for
	keyRotationGrace time.Duration
	progress         progress

	operatorProblem *operatorProblem // the first one with a Secret for an operator; nil for none
}

// operatorProblem says why the credentials for an operator cannot be used. The sandbox works without them.
type operatorProblem struct {
	reason  string
	message string // the same each time, because it is written to the status
}

func (e *operatorProblem) Error() string { return e.message }
