package sandboxes

import (
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// Config is a sandbox as its resource wants it to be. The resource's UID is the identity of the organization that
// stands behind it: a resource deleted and made again is a new organization.
type Config struct {
	UID        string // of the SandboxEnvironment, a UUID
	Generation int64  // of the SandboxEnvironment; one before the generation that was applied last is refused
	RolledBack int64  // the generation that was applied last, where the API server is known to have gone back behind it; else 0
	Replaces   string // UID of a resource that is known to be gone: if its rows have the name, they are retained
	Namespace  string
	Name       string

	Environments   []EnvironmentConfig
	Stores         []string // slugs
	Operators      []OperatorAccess
	OpeningFloat   map[payments.Currency]int64
	Webhook        *WebhookConfig         // nil: events are recorded and not sent
	LatencyPercent int                    // of the simulated latency, 0-1000
	MonthlyQuota   *int64                 // transactions in a calendar month (UTC), nil for no limit
	RateLimit      *int32                 // requests in a minute, nil for no limit
	PendingTimeout time.Duration          // how long a pending collection waits for its payer; 0: DefaultPendingTimeout
	TestNumbers    payments.TestNumberSet // empty: none
	Suspended      bool                   // the API answers 503, and nothing is done that is due
	Reset          string                 // a value that differs from the one before empties the sandbox
	API            APIAccess              // what the sandbox's key may do beside payments
	CallbackHosts  []string               // patterns of hosts to which operators' callbacks may go; nil: as by default
	Clock          ClockConfig
	Seed           *int64 // of what is drawn; nil: it is drawn by chance
	Faults         []byte // as JSON, read by [faults.Parse]; nil: none
}

// ClockMode is how the time of a sandbox passes.
type ClockMode string

// The modes of a clock.
const (
	RealClock   ClockMode = "Real"   // as everywhere, or so much ahead as it was advanced
	ManualClock ClockMode = "Manual" // it stands until it is advanced
)

// ClockConfig is the clock as the resource wants it.
type ClockConfig struct {
	Mode  ClockMode  // empty: RealClock
	Start *time.Time // of a manual clock, at creation and after each reset; nil: the present
}

// APIAccess is what a sandbox's API key may do that is otherwise left to its resources.
type APIAccess struct {
	TestClients    bool   // create, change and delete test clients
	Reset          bool   // reset the sandbox
	MaxTestClients *int64 // in the sandbox's registry, with those of resources; nil: no limit
}

// EnvironmentConfig is one operator in one country.
type EnvironmentConfig struct {
	Operator      payments.Operator
	Country       payments.Country
	Enabled       bool
	Terms         payments.Terms
	UnknownPolicy payments.UnknownPolicy
	MaxAmount     *int64 // nil: no limit
	Vague         bool   // the operator's own API tells failures without their reason
	// Quirks are habits of the operator's own sandbox that the resource sets.
	Quirks map[string]bool
}

// WebhookConfig is where a sandbox's events go.
type WebhookConfig struct {
	URL   string
	Retry RetryPolicy
	Types []payments.Type // of the transactions whose events are sent; the others' are recorded. nil: all
}

// RetryPolicy is the schedule of a webhook's retries: the n-th retry follows the attempt before it after
// InitialDelay * Factor^(n-1), at most MaxDelay.
type RetryPolicy struct {
	MaxRetries   int
	InitialDelay time.Duration
	Factor       float64
	MaxDelay     time.Duration
}

// OperatorAccess is how the collections of one store from numbers that the sandbox does not know reach an operator in a
// country.
type OperatorAccess struct {
	Store       string // slug
	Operator    payments.Operator
	Country     payments.Country
	BaseURL     string               // of the operator's API, empty for none: the worker approves them itself
	Credentials *OperatorCredentials // nil: they are missing
}

// OperatorCredentials are what a store holds of an operator. They are stored encrypted.
type OperatorCredentials struct {
	ClientID        string
	ClientSecret    string
	SubscriptionKey string // MTN's, may be empty
}

// String keeps the credentials out of whatever is printed.
func (OperatorCredentials) String() string { return "(operator credentials)" }

// GoString is as String.
func (c OperatorCredentials) GoString() string { return c.String() }

// SandboxState is a sandbox as it stands in the database.
type SandboxState struct {
	OrganizationID string // org_<code>, stable for the life of the resource
	Environments   []EnvironmentState
	Balances       map[payments.Currency]int64 // live floats; every currency of an environment or an opening float is there
	TestClients    int
	Transactions   TransactionCounts
	Quota          *QuotaState // nil: there is none
	Endpoint       EndpointHealth
	Failures       []SweepFailure // of the workers, in this sandbox alone
	Ledger         LedgerState
	Clock          ClockState
	Faults         []FaultState // those of the resource that acted
	Reset          string       // the last one that was carried out, or the one that the sandbox was made with
}

// EnvironmentState is an environment as it stands in the database. One that was removed from the resource is not
// listed.
type EnvironmentState struct {
	ID       string // env_<code>
	Operator payments.Operator
	Country  payments.Country
	Currency payments.Currency
	Enabled  bool
}

// Credentials are what a sandbox's clients and webhook receiver hold.
type Credentials struct {
	APIKeyHash     KeyHash       // SHA-256 of the key; the key itself is never stored
	KeyRotation    string        // value of the spec that the key was issued for
	Replaces       *KeyHash      // key that it was issued in place of; nil: none
	Grace          time.Duration // how long keys that were replaced still work; 0: not at all
	SigningSecret  string        // stored encrypted
	SecretRotation string        // value of the spec that the signing secret was made for
	Native         []byte        // what the operators' own APIs accept, see [NativeDigests.Encode]; nil: as it stands there
	Following      int64         // version of the [StoredCredentials] that they were chosen by; 0: whatever stands there
}

// String keeps the credentials out of whatever is printed.
func (Credentials) String() string { return "(credentials)" }

// GoString is as String.
func (c Credentials) GoString() string { return c.String() }

// TestClientConfig is a SIM as its resource wants it to be. The resource's UID is the SIM's identity.
type TestClientConfig struct {
	UID        string // of the TestClient, a UUID
	Generation int64  // as in [Config]
	RolledBack int64  // as in [Config]
	Name       string // of the TestClient
	MSISDN     string
	Operator   payments.Operator
	Country    payments.Country
	Blocked    bool
	Behavior   payments.Behavior
	Balance    int64 // opening; a change sets the live balance to the new value
	Limit      int   // of test clients in the registry, for a new one beside some that were made through the API; 0: none
}

// TestClientState is a SIM as it stands in the database.
type TestClientState struct {
	Balance int64 // live
}

// AccountChange names a resource whose live balance, counts or deliveries changed.
type AccountChange struct {
	Namespace  string
	Sandbox    string // name of the SandboxEnvironment
	TestClient string // name of the TestClient, empty for the sandbox itself
	ChangedAt  time.Time
}

// DefaultPendingTimeout holds for a sandbox that says nothing.
const DefaultPendingTimeout = time.Hour

// DefaultRetryPolicy holds for a sandbox that says nothing: 5 s, 25 s, about 2 min, 10 min and 52 min.
var DefaultRetryPolicy = RetryPolicy{MaxRetries: 5, InitialDelay: 5 * time.Second, Factor: 5, MaxDelay: time.Hour}
