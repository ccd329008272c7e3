package sandboxes

import (
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Config is the desired state of a sandbox, as its resource declares it. The UID of the resource identifies the
// organization: a resource that is deleted and created again is a new organization.
type Config struct {
	UID        string // of the SandboxEnvironment, a UUID
	Generation int64  // of the SandboxEnvironment; a generation before the last applied one is refused
	RolledBack int64  // the generation applied last, if the API server was restored to an earlier one; else 0
	Replaces   string // UID of a deleted resource; its rows with this name, if there are any, are retained
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
	Suspended      bool                   // the API answers 503, and due work waits
	Reset          string                 // a new value empties the sandbox
	API            APIAccess              // what the sandbox's key may do beside payments
	CallbackHosts  []string               // patterns of hosts to which operators' callbacks may go; nil: the default
	Clock          ClockConfig
	TestClients    []TestClientConfig // registered together with a new sandbox, each with its own number; otherwise unused
	Seed           *int64             // of random draws; nil: each draw is random
	Faults         []byte             // as JSON, read by [faults.Parse]; nil: none
}

// ClockMode is how the time of a sandbox passes.
type ClockMode string

// The modes of a clock.
const (
	RealClock   ClockMode = "Real"   // it runs; advances put it ahead of the database's clock
	ManualClock ClockMode = "Manual" // it stands until it is advanced
)

// ClockConfig is the clock as the resource wants it.
type ClockConfig struct {
	Mode  ClockMode  // empty: RealClock
	Start *time.Time // where a manual clock begins, at creation and after each reset; nil: the present
}

// APIAccess has the permissions of a sandbox's API key to change what resources otherwise configure.
type APIAccess struct {
	TestClients    bool   // create, change and delete test clients
	Reset          bool   // reset the sandbox
	Faults         bool   // set and remove faults
	MaxTestClients *int64 // in the sandbox's registry, including those of resources; nil: no limit
}

// EnvironmentConfig is one operator in one country.
type EnvironmentConfig struct {
	Operator      payments.Operator
	Country       payments.Country
	Enabled       bool
	Terms         payments.Terms
	UnknownPolicy payments.UnknownPolicy
	MaxAmount     *int64 // nil: no limit
	Vague         bool   // the operator's own API hides the reasons of failures
	// Quirks are habits of the operator's own sandbox that the resource sets.
	Quirks map[string]bool
	// CallbackURL is where callbacks go, for operators whose requests name no URL; empty for none. CallbackHash is
	// whether they are signed.
	CallbackURL  string
	CallbackHash bool
}

// WebhookConfig is where a sandbox's events go.
type WebhookConfig struct {
	URL   string
	Retry RetryPolicy
	Types []payments.Type // of the transactions whose events are sent; other events are only recorded. nil: all
	// Refusal is why nothing is ever sent to URL, as the error of an attempt; empty: it may be.
	Refusal string
}

// RetryPolicy is the schedule of a webhook's retries: the delay before the n-th retry is InitialDelay * Factor^(n-1),
// at most MaxDelay.
type RetryPolicy struct {
	MaxRetries   int
	InitialDelay time.Duration
	Factor       float64
	MaxDelay     time.Duration
}

// OperatorAccess is the access of a store to an operator in a country. The worker forwards collections from numbers
// unknown to the sandbox to this operator.
type OperatorAccess struct {
	Store       string // slug
	Operator    payments.Operator
	Country     payments.Country
	BaseURL     string               // of the operator's API; empty: there is none, and the worker approves the collections
	Credentials *OperatorCredentials // nil: they are missing
}

// OperatorCredentials are the credentials of a store at an operator. They are stored encrypted.
type OperatorCredentials struct {
	ClientID        string
	ClientSecret    string
	SubscriptionKey string // only for MTN; may be empty
	MerchantKey     string // only for Orange; may be empty
	ShortCode       string // only for M-Pesa; may be empty
	Passkey         string // only for M-Pesa; may be empty
}

// String hides the credentials when a value is printed.
func (OperatorCredentials) String() string { return "(operator credentials)" }

// GoString returns the text of String.
func (c OperatorCredentials) GoString() string { return c.String() }

// SandboxState is a sandbox as it stands in the database.
type SandboxState struct {
	OrganizationID string // org_<code>, stable for the life of the resource
	Environments   []EnvironmentState
	Balances       map[payments.Currency]int64 // live balances of the floats, for every currency of an environment or an opening float
	TestClients    int
	Transactions   TransactionCounts
	Quota          *QuotaState // nil: there is none
	Endpoint       webhooks.EndpointHealth
	Failures       []SweepFailure // sweeps that fail only in this sandbox
	Ledger         LedgerState
	Clock          ClockState
	Faults         []FaultState // declared faults that applied
	Reset          string       // the last value of spec.reset that was carried out, or the value at creation
}

// EnvironmentState is an environment as it stands in the database. Removed environments are not listed.
type EnvironmentState struct {
	ID       string // env_<code>
	Operator payments.Operator
	Country  payments.Country
	Currency payments.Currency
	Enabled  bool
}

// Credentials are the credentials of a sandbox's clients and of its webhook receiver.
type Credentials struct {
	APIKeyHash     KeyHash       // SHA-256 of the key; the key itself is never stored
	KeyRotation    string        // value in the spec for which the key was issued
	Replaces       *KeyHash      // the replaced key; nil: none
	Grace          time.Duration // how long keys that were replaced still work; 0: not at all
	SigningSecret  string        // stored encrypted
	SecretRotation string        // value in the spec for which the signing secret was made
	Native         []byte        // digests for the operators' own APIs, see [NativeDigests.Encode]; nil: unchanged
	Following      int64         // version of the [StoredCredentials] that they replace; 0: any
}

// String hides the credentials when a value is printed.
func (Credentials) String() string { return "(credentials)" }

// GoString returns the text of String.
func (c Credentials) GoString() string { return c.String() }

// TestClientConfig is the desired state of a SIM, as its resource declares it. The UID of the resource identifies the
// SIM.
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
	Balance    int64 // opening balance; a change sets the live balance to the new value
	Limit      int   // maximum number of test clients in the registry, if the API has created some of them; 0: none
}

// TestClientState is a SIM as it stands in the database.
type TestClientState struct {
	Balance int64 // live balance
	New     bool  // the SIM was registered now
}

// AccountChange names a resource whose live balance, counts or deliveries changed.
type AccountChange struct {
	Namespace  string
	Sandbox    string // name of the SandboxEnvironment
	TestClient string // name of the TestClient, empty for the sandbox itself
	ChangedAt  time.Time
}

// DefaultPendingTimeout is the pending timeout of a sandbox that sets none.
const DefaultPendingTimeout = time.Hour

// DefaultRetryPolicy is the retry policy of a sandbox that sets none. Its delays are 5 s, 25 s, about 2 min, 10 min and
// 52 min.
var DefaultRetryPolicy = RetryPolicy{MaxRetries: 5, InitialDelay: 5 * time.Second, Factor: 5, MaxDelay: time.Hour}
