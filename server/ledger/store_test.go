package ledger_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// fixture is a database with one sandbox, as the controller and the api see it.
type fixture struct {
	*ledgertest.Store
	t       *testing.T
	url     string
	sql     *pgxpool.Pool // for what a test wants to see or do for itself
	config  sandboxes.SandboxConfig
	sandbox *sandboxes.Sandbox
	key     sandboxes.KeyHash
}

func newFixture(t *testing.T, change ...func(*sandboxes.SandboxConfig)) *fixture {
	t.Helper()
	t.Parallel()
	url := ledgertest.URL(t)
	w := &fixture{Store: ledgertest.Open(t, url), t: t, url: url, sql: pool(t, url), key: sandboxes.KeyHash{1}}
	w.config = sandboxes.SandboxConfig{
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
		f(&w.config)
	}
	w.open()
	return w
}

func pool(t *testing.T, url string) *pgxpool.Pool {
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

// beside makes another sandbox in the same database.
func (w *fixture) beside(name string, change ...func(*sandboxes.SandboxConfig)) *fixture {
	w.t.Helper()
	other := &fixture{Store: w.Store, t: w.t, url: w.url, sql: w.sql, config: w.config, key: sha256.Sum256([]byte(name))}
	other.config.UID, other.config.Name = uuid.NewSHA1(uuid.Nil, []byte(name)).String(), name
	for _, f := range change {
		f(&other.config)
	}
	other.open()
	return other
}

// open applies the sandbox and its credentials.
func (w *fixture) open() {
	w.t.Helper()
	w.apply()
	if err := w.ApplyCredentials(w.t.Context(), w.config.UID, sandboxes.Credentials{APIKeyHash: w.key, SigningSecret: secret}); err != nil {
		w.t.Fatal(err)
	}
	w.reload()
}

const secret = "whsec_dGVzdA=="

func (w *fixture) apply() sandboxes.SandboxState {
	w.t.Helper()
	state, err := w.ApplySandbox(w.t.Context(), w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

func (w *fixture) reload() {
	w.t.Helper()
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.sandbox, _ = directory.ByKey(w.key)
	if w.sandbox == nil {
		w.t.Fatal("the directory does not know the sandbox's key")
	}
}

func (w *fixture) client(name, msisdn string, balance int64, change ...func(*sandboxes.TestClientConfig)) sandboxes.TestClientConfig {
	w.t.Helper()
	c := sandboxes.TestClientConfig{
		UID: uuid.NewSHA1(uuid.MustParse(w.config.UID), []byte(name)).String(), Name: name, MSISDN: msisdn,
		Operator: payments.MTN, Country: payments.Rwanda, Behavior: payments.Approve, Balance: balance,
	}
	for _, f := range change {
		f(&c)
	}
	if _, err := w.ApplyTestClient(w.t.Context(), w.config.UID, c); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// collection is a decided collection of 1000 RWF with a commission of 15 that the merchant bears.
func (w *fixture) collection(reference string, status payments.Status, msisdn string) *ledger.NewCollection {
	w.t.Helper()
	id, err := payments.NewID(time.Now(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	market := sandboxes.Market{Operator: payments.MTN, Country: payments.Rwanda}
	return &ledger.NewCollection{
		Transaction: payments.Transaction{
			ID: id, Type: payments.Collection, Status: status, Reference: reference, OrderRef: reference, Store: "shop",
			EnvironmentID: w.sandbox.Environments[market].ID, Operator: payments.MTN, Country: payments.Rwanda, Currency: "RWF",
			MSISDN: msisdn, Amount: 1000, Commission: 15, NetAmount: 985, AbsorptionPct: 100, Latency: time.Second,
		},
		Decided: ledger.Decided{RequestHash: []byte(reference), ConfigVersion: w.sandbox.ConfigVersion}, ExpireAfter: time.Hour,
	}
}

func (w *fixture) create(n *ledger.NewCollection) *payments.Transaction {
	w.t.Helper()
	if err := w.CreateCollection(w.t.Context(), w.sandbox.Tenant, n); err != nil {
		w.t.Fatal(err)
	}
	return &n.Transaction
}

func (w *fixture) get(id payments.ID) *payments.Transaction {
	w.t.Helper()
	t, err := w.GetTransaction(w.t.Context(), w.sandbox.Tenant, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *fixture) balance(msisdn string) int64 {
	w.t.Helper()
	sim, err := w.FindSIM(w.t.Context(), w.sandbox.Tenant, msisdn)
	if err != nil || sim == nil {
		w.t.Fatalf("SIM %s: %v, %v", msisdn, sim, err)
	}
	return sim.Balance
}

// conserved fails unless every float and every SIM holds exactly what was put in, the balances that were written down lead
// from nothing to the present one, and each terminal transaction has its event.
func (w *fixture) conserved() {
	w.t.Helper()
	// Changes are not ordered by any column, but each leads from one balance to another: whatever the order, every balance
	// is left as often as it is reached, but for the first, 0, and the last, the present one.
	wrong := read[[]string](w, `
		with accounts as (
		  select tenant, currency as account, balance from floats
		  union all select tenant, sim_id::text, balance from sims
		), changes as (
		  select tenant, coalesce(currency, sim_id::text) as account, delta, balance_after from adjustments
		  union all select tenant, float_currency, merchant_delta, merchant_balance_after from transactions where merchant_delta <> 0
		  union all select tenant, sim_id::text, sim_delta, sim_balance_after from transactions where sim_delta <> 0
		), visits as (
		  select tenant, account, balance_after as at, 1 as n from changes
		  union all select tenant, account, balance_after - delta, -1 from changes
		  union all select tenant, account, 0, 1 from accounts
		  union all select tenant, account, balance, -1 from accounts
		)
		select coalesce(array_agg(what), '{}') from (
		  select 'sum of ' || account as what from accounts a where balance <>
		    (select coalesce(sum(delta), 0) from changes c where c.tenant = a.tenant and c.account = a.account)
		  union all
		  select 'running balance of ' || account || ' at ' || at from visits join accounts using (tenant, account)
		  group by tenant, account, at having sum(n) <> 0
		  union all
		  select 'no running balance in ' || id from transactions
		  where merchant_delta <> 0 and merchant_balance_after is null or sim_delta <> 0 and sim_balance_after is null
		  union all
		  select 'event of ' || id from transactions t where (status <> 'PENDING') <>
		    exists (select from events e where e.tenant = t.tenant and e.id = t.id)
		) x`)
	if len(wrong) > 0 {
		w.t.Fatalf("money or events do not add up: %v", wrong)
	}
}

func (w *fixture) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.sql.Exec(w.t.Context(), sql, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) count(sql string, args ...any) int {
	w.t.Helper()
	return read[int](w, sql, args...)
}

// read returns the one value that a query comes to.
func read[T any](w *fixture, sql string, args ...any) (value T) {
	w.t.Helper()
	if err := w.sql.QueryRow(w.t.Context(), sql, args...).Scan(&value); err != nil {
		w.t.Fatal(err)
	}
	return value
}

const alice = "+250788000001"

func TestMigrateIsSafeToRepeatAndToRaceWithItself(t *testing.T) {
	t.Parallel()
	url := ledgertest.Empty(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := postgres.Migrate(t.Context(), url); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := ledgertest.Open(t, url).ApplySandbox(t.Context(), sandboxes.SandboxConfig{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "a", Name: "b",
	}); err != nil {
		t.Fatal(err)
	}
}

func TestUnavailableDatabase(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"nobody listens": "postgres://u:p@127.0.0.1:1/x",
		"not migrated":   ledgertest.Empty(t),
	}
	for name, url := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ledgertest.Open(t, url).ApplySandbox(t.Context(), sandboxes.SandboxConfig{UID: "11111111-1111-1111-1111-111111111111"})
			if !errors.Is(err, postgres.ErrUnavailable) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
		})
	}
}

func TestBookedCollectionMovesMoneyOnce(t *testing.T) {
	w := newFixture(t)
	w.client("alice", alice, 5000)
	made := w.create(w.collection("r1", payments.Success, alice))
	if made.CreatedAt.IsZero() || made.CompletedAt == nil || *made.MerchantBalanceAfter != 1985 || *made.SIMBalanceAfter != 4000 {
		t.Fatalf("booked: %+v", made)
	}
	if diff := cmp.Diff(made, w.get(made.ID)); diff != "" {
		t.Errorf("read back (-made +read):\n%s", diff)
	}
	if got := w.balance(alice); got != 4000 {
		t.Errorf("the SIM has %d, want 4000", got)
	}
	w.conserved()
}

func TestForcedSuccessDebitsOnlyASIMThatCanPay(t *testing.T) {
	cases := map[string]struct {
		prepare func(w *fixture)
		left    int64
	}{
		"can pay": {func(w *fixture) { w.client("alice", alice, 1000) }, 0},
		"poor":    {func(w *fixture) { w.client("alice", alice, 999) }, 999},
		"blocked": {func(w *fixture) {
			w.client("alice", alice, 5000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
		}, 5000},
		"another currency": {func(w *fixture) {
			w.client("alice", alice, 5000, func(c *sandboxes.TestClientConfig) { c.Country = "CI" })
		}, 5000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			c.prepare(w)
			made := w.create(w.collection("r1", payments.Success, alice))
			if *made.MerchantBalanceAfter != 1985 {
				t.Errorf("the merchant has %d, want 1985", *made.MerchantBalanceAfter)
			}
			if got := w.balance(alice); got != c.left {
				t.Errorf("the SIM has %d, want %d", got, c.left)
			}
			w.conserved()
		})
	}
}

func TestFailedCollectionMovesNothingAndOwesAnEvent(t *testing.T) {
	w := newFixture(t)
	w.client("alice", alice, 5000)
	for i, status := range payments.Statuses {
		if status == payments.Success || status == payments.Pending {
			continue
		}
		w.create(w.collection(fmt.Sprint("r", i), status, alice))
	}
	if got := w.balance(alice); got != 5000 {
		t.Errorf("the SIM has %d, want 5000", got)
	}
	w.conserved()
}

func TestReferenceIsTakenOnce(t *testing.T) {
	for _, status := range []payments.Status{payments.Success, payments.Pending} {
		t.Run(string(status), func(t *testing.T) {
			w := newFixture(t)
			w.client("alice", alice, 100_000)
			const callers = 32
			results := make(chan error, callers)
			for range callers {
				n := w.collection("the same", status, alice)
				go func() { results <- w.CreateCollection(context.Background(), w.sandbox.Tenant, n) }()
			}
			made, ids := 0, map[payments.ID]bool{}
			for range callers {
				var taken *ledger.ErrReferenceTaken
				switch err := <-results; {
				case err == nil:
					made++
				case errors.As(err, &taken):
					ids[taken.Transaction.ID] = true
				default:
					t.Fatal(err)
				}
			}
			if made != 1 || len(ids) != 1 {
				t.Fatalf("%d were made, and the others were told of %d", made, len(ids))
			}
			w.conserved()
		})
	}
}

func TestOutcomeOfAnOldConfigurationIsNotRecorded(t *testing.T) {
	for _, status := range []payments.Status{payments.Success, payments.UnknownMSISDN} {
		t.Run(string(status), func(t *testing.T) {
			w := newFixture(t)
			n := w.collection("r1", status, alice)
			w.config.Environments[0].Terms.CommissionBPS = 300
			w.apply()
			if err := w.CreateCollection(t.Context(), w.sandbox.Tenant, n); !errors.Is(err, postgres.ErrConfigChanged) {
				t.Fatalf("got %v, want ErrConfigChanged", err)
			}
			w.conserved()
		})
	}
}

func TestConcurrentCollectionsOfOneFloatAndOneSIM(t *testing.T) {
	w := newFixture(t)
	w.client("alice", alice, 40_000)
	var wg sync.WaitGroup
	for c := range 8 {
		var todo []*ledger.NewCollection
		for i := range 10 {
			todo = append(todo, w.collection(fmt.Sprint(c, "-", i), payments.Success, alice))
		}
		wg.Go(func() {
			for _, n := range todo {
				if err := w.CreateCollection(context.Background(), w.sandbox.Tenant, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := w.balance(alice); got != 0 {
		t.Errorf("the SIM has %d: 40 of the 80 payments should have emptied it", got)
	}
	if got := w.apply().Balances[payments.RWF]; got != 1000+80*985 {
		t.Errorf("the float has %d, want %d", got, 1000+80*985)
	}
	w.conserved()
}
