package ledgertest

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// Alice is the number of a TestClient.
	Alice = "+250788000001"
	// Secret is the signing secret of a [Fixture].
	Secret = "whsec_dGVzdA=="
)

// Fixture is a database with one sandbox, as the controller and the api see it.
type Fixture struct {
	*Store
	T       *testing.T
	URL     string
	SQL     *pgxpool.Pool // for statements of the test itself
	Config  sandboxes.Config
	Sandbox *sandboxes.Sandbox
	Key     sandboxes.KeyHash
}

// NewFixture makes a [Fixture] on a database of its own. change may change the configuration before it is applied. The
// test runs in parallel with others.
func NewFixture(t *testing.T, change ...func(*sandboxes.Config)) *Fixture {
	t.Helper()
	t.Parallel()
	url := URL(t)
	w := &Fixture{Store: Open(t, url), T: t, URL: url, SQL: Pool(t, url), Key: sandboxes.KeyHash{1}}
	w.Config = sandboxes.Config{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "team", Name: "checkout",
		Environments: []sandboxes.EnvironmentConfig{
			{
				Operator:      payments.MTN,
				Country:       payments.Rwanda,
				Enabled:       true,
				Terms:         payments.Terms{CommissionBPS: 150, AbsorptionPct: 100},
				UnknownPolicy: payments.Reject,
			},
			{Operator: payments.Orange, Country: payments.CoteDIvoire, Enabled: true, UnknownPolicy: payments.Passthrough},
		},
		Stores:         []string{"shop"},
		OpeningFloat:   map[payments.Currency]int64{payments.RWF: 1000},
		Webhook:        &sandboxes.WebhookConfig{URL: "http://127.0.0.1:1/hook", Retry: sandboxes.DefaultRetryPolicy},
		LatencyPercent: 100,
	}
	for _, f := range change {
		f(&w.Config)
	}
	w.Open()
	return w
}

// Pool opens a few connections, for statements of the test itself.
func Pool(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 3 // many tests run at once
	p, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Beside makes another sandbox in the same database.
func (w *Fixture) Beside(name string, change ...func(*sandboxes.Config)) *Fixture {
	w.T.Helper()
	other := &Fixture{Store: w.Store, T: w.T, URL: w.URL, SQL: w.SQL, Config: w.Config, Key: sha256.Sum256([]byte(name))}
	other.Config.UID, other.Config.Name = uuid.NewSHA1(uuid.Nil, []byte(name)).String(), name
	for _, f := range change {
		f(&other.Config)
	}
	other.Open()
	return other
}

// Open applies the sandbox and its credentials.
func (w *Fixture) Open() {
	w.T.Helper()
	w.Apply()
	if err := w.ApplyCredentials(w.T.Context(), w.Config.UID, sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: Secret}); err != nil {
		w.T.Fatal(err)
	}
	w.Reload()
}

// Apply applies the sandbox.
func (w *Fixture) Apply() sandboxes.SandboxState {
	w.T.Helper()
	state, err := w.ApplySandbox(w.T.Context(), w.Config)
	if err != nil {
		w.T.Fatal(err)
	}
	return state
}

// Reload reads the sandbox as the api knows it.
func (w *Fixture) Reload() {
	w.T.Helper()
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	w.Sandbox, _ = directory.ByKey(w.Key)
	if w.Sandbox == nil {
		w.T.Fatal("the directory does not know the sandbox's key")
	}
}

// Client applies a TestClient that approves every prompt.
func (w *Fixture) Client(name, msisdn string, balance int64, change ...func(*sandboxes.TestClientConfig)) sandboxes.TestClientConfig {
	w.T.Helper()
	c := sandboxes.TestClientConfig{
		UID: uuid.NewSHA1(uuid.MustParse(w.Config.UID), []byte(name)).String(), Name: name, MSISDN: msisdn,
		Operator: payments.MTN, Country: payments.Rwanda, Behavior: payments.Approve, Balance: balance,
	}
	for _, f := range change {
		f(&c)
	}
	if _, err := w.ApplyTestClient(w.T.Context(), w.Config.UID, c); err != nil {
		w.T.Fatal(err)
	}
	return c
}

// Opened opens another store on the same database.
func (w *Fixture) Opened(o Options) *Store {
	w.T.Helper()
	s, err := OpenWith(w.URL, o)
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(s.Close)
	return s
}

// Eventually waits until a condition is true.
func Eventually(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has not come true in three minutes")
		}
	}
}
