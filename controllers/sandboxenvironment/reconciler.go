package sandboxenvironment

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
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Reconciler writes a SandboxEnvironment to the database and to its credentials Secret.
type Reconciler struct {
	client.Client                 // reads from the cache, which has only the controller's Secrets
	APIReader       client.Reader // reads from the API server, if the cache does not have an object or may be stale
	Cache           client.Reader // reads from the cache, and does not wait for the controller's own writes
	Limit           *reconciler.ResourceLimit
	MaxTestClients  int // maximum in a sandbox; 0: no limit
	TestClients     *testclient.Reconciler
	Gate            reconciler.DatabaseGate
	Writes          reconciler.Admission
	Database        reconciler.Database
	BaseURL         *url.URL
	OperatorRoot    func(*sandboxes.Sandbox, payments.Operator) string // "" for none; nil: always
	Random          io.Reader
	SigningSecret   string
	Installation    string // name of this installation; empty: it marks nothing
	CallbackHosts   []string
	Guard           egress.Guard
	Clock           clock.PassiveClock
	Recorder        events.EventRecorder
	Pace            reconciler.Pace
	checkedVersions secretVersions
}

// Steps are the conditions that Ready summarizes, in the order of their steps.
var Steps = []string{
	v1alpha1.ConditionSpecAccepted,
	v1alpha1.ConditionDatabaseReady,
	v1alpha1.ConditionCredentialsReady,
}

// Observation is the result of a reconciliation. Each step adds to it.
type Observation struct {
	Config           sandboxes.Config
	State            *sandboxes.SandboxState // nil: the database was not reached
	secretName       string                  // name of the credentials Secret; empty: not written yet
	keyRotation      string                  // spec.keyRotation when the API key was issued
	keyRotationGrace time.Duration
	Progress         reconciler.Progress

	OperatorProblem *OperatorProblem // first problem with the access to an operator; nil for none
}

// OperatorProblem is the reason why the credentials for an operator cannot be used. The sandbox works without them.
type OperatorProblem struct {
	Reason  string
	Message string // constant over retries, because it is written to the status
}

func (e *OperatorProblem) Error() string { return e.Message }
