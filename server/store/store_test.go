package store_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/server/store/storetest"
)

// world is a database with one sandbox, as the controller and the api see it.
type world struct {
	*store.Store
	t       *testing.T
	url     string
	config  store.SandboxConfig
	sandbox *store.Sandbox
	key     store.KeyHash
}

func newWorld(t *testing.T, change ...func(*store.SandboxConfig)) *world {
	t.Helper()
	t.Parallel()
	url := storetest.URL(t)
	w := &world{Store: storetest.Open(t, url), t: t, url: url, key: store.KeyHash{1}}
	w.config = store.SandboxConfig{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "team", Name: "checkout",
		Environments: []store.EnvironmentConfig{
			{Operator: payments.MTN, Country: payments.Rwanda, Enabled: true, Terms: payments.Terms{CommissionBPS: 150, AbsorptionPct: 100}, UnknownPolicy: payments.Reject},
			{Operator: payments.Orange, Country: payments.CoteDIvoire, Enabled: true, UnknownPolicy: payments.Passthrough},
		},
		Stores:         []string{"shop"},
		OpeningFloat:   map[payments.Currency]int64{payments.RWF: 1000},
		Webhook:        &store.WebhookConfig{URL: "http://127.0.0.1:1/hook", Retry: store.DefaultRetryPolicy},
		LatencyPercent: 100,
	}
	for _, f := range change {
		f(&w.config)
	}
	w.apply()
	if err := w.ApplyCredentials(t.Context(), w.config.UID, store.Credentials{APIKeyHash: w.key, SigningSecret: "whsec_dGVzdA=="}); err != nil {
		t.Fatal(err)
	}
	w.reload()
	return w
}

func (w *world) apply() store.SandboxState {
	w.t.Helper()
	state, err := w.ApplySandbox(w.t.Context(), w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

func (w *world) reload() {
	w.t.Helper()
	directory := store.NewDirectory(w.Store)
	if err := directory.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.sandbox, _ = directory.ByKey(w.key)
	if w.sandbox == nil {
		w.t.Fatal("the directory does not know the sandbox's key")
	}
}

func (w *world) client(name, msisdn string, balance int64, change ...func(*store.TestClientConfig)) store.TestClientConfig {
	w.t.Helper()
	c := store.TestClientConfig{
		UID: fmt.Sprintf("22222222-2222-2222-2222-%012x", len(name)*1000+int(msisdn[len(msisdn)-1])), Name: name, MSISDN: msisdn,
		Operator: payments.MTN, Country: payments.Rwanda, Behaviour: payments.Approve, Balance: balance,
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
func (w *world) collection(reference string, status payments.Status, msisdn string) *store.NewCollection {
	w.t.Helper()
	id, err := payments.NewID(time.Now(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	sim, err := w.FindSIM(w.t.Context(), w.sandbox.Tenant, msisdn)
	if err != nil {
		w.t.Fatal(err)
	}
	market := store.Market{Operator: payments.MTN, Country: payments.Rwanda}
	return &store.NewCollection{
		Transaction: payments.Transaction{
			ID: id, Type: payments.Collection, Status: status, Reference: reference, OrderRef: reference, Store: "shop",
			EnvironmentID: w.sandbox.Environments[market].ID, Operator: payments.MTN, Country: payments.Rwanda, Currency: "RWF",
			MSISDN: msisdn, Amount: 1000, Commission: 15, NetAmount: 985, AbsorptionPct: 100, Latency: time.Second,
		},
		RequestHash: []byte(reference), Payer: sim, ConfigVersion: w.sandbox.ConfigVersion, ExpireAfter: time.Hour,
	}
}

func (w *world) create(n *store.NewCollection) *payments.Transaction {
	w.t.Helper()
	if err := w.CreateCollection(w.t.Context(), w.sandbox.Tenant, n); err != nil {
		w.t.Fatal(err)
	}
	return &n.Transaction
}

func (w *world) get(id payments.ID) *payments.Transaction {
	w.t.Helper()
	t, err := w.GetTransaction(w.t.Context(), w.sandbox.Tenant, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *world) balance(msisdn string) int64 {
	w.t.Helper()
	sim, err := w.FindSIM(w.t.Context(), w.sandbox.Tenant, msisdn)
	if err != nil || sim == nil {
		w.t.Fatalf("SIM %s: %v, %v", msisdn, sim, err)
	}
	return sim.Balance
}

// conserved fails unless every float and every SIM holds exactly what was put in, and every balance after a transaction
// follows from the ones before it.
func (w *world) conserved() {
	w.t.Helper()
	conn := storetest.Connect(w.t, w.url)
	var wrong []string
	err := conn.QueryRow(w.t.Context(), `
		select coalesce(array_agg(what), '{}') from (
		  select 'float ' || currency as what from floats f where balance <>
		    (select coalesce(sum(delta), 0) from adjustments a where a.tenant = f.tenant and a.currency = f.currency) +
		    (select coalesce(sum(merchant_delta), 0) from transactions t where t.tenant = f.tenant and t.float_currency = f.currency)
		  union all
		  select 'sim ' || msisdn from sims s where balance <>
		    (select coalesce(sum(delta), 0) from adjustments a where a.tenant = s.tenant and a.sim_id = s.sim_id) +
		    (select coalesce(sum(sim_delta), 0) from transactions t where t.tenant = s.tenant and t.sim_id = s.sim_id)
		  union all
		  select 'balance after ' || id from (
		    select id, merchant_balance_after - merchant_delta as before,
		      lag(merchant_balance_after) over (partition by tenant, float_currency order by merchant_balance_after) as last
		    from transactions where merchant_delta > 0) x where last is not null and before <> last
		  union all
		  select 'event of ' || id from transactions t where (status <> 'PENDING') <>
		    exists (select from events e where e.tenant = t.tenant and e.id = t.id)
		) x`).Scan(&wrong)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(wrong) > 0 {
		w.t.Fatalf("money or events do not add up: %v", wrong)
	}
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := storetest.Connect(w.t, w.url).Exec(w.t.Context(), sql, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) count(sql string, args ...any) int {
	w.t.Helper()
	var n int
	if err := storetest.Connect(w.t, w.url).QueryRow(w.t.Context(), sql, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

const alice = "+250788000001"

func TestMigrateIsSafeToRepeatAndToRaceWithItself(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := store.Migrate(t.Context(), url); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := storetest.Open(t, url).ApplySandbox(t.Context(), store.SandboxConfig{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "a", Name: "b",
	}); err != nil {
		t.Fatal(err)
	}
}

func TestUnavailableDatabase(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"nobody listens": "postgres://u:p@127.0.0.1:1/x",
		"not migrated":   storetest.Empty(t),
	}
	for name, url := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := storetest.Open(t, url).ApplySandbox(t.Context(), store.SandboxConfig{UID: "11111111-1111-1111-1111-111111111111"})
			if !errors.Is(err, store.ErrUnavailable) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
		})
	}
}

func TestBookedCollectionMovesMoneyOnce(t *testing.T) {
	w := newWorld(t)
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
		prepare func(w *world)
		left    int64
	}{
		"can pay":          {func(w *world) { w.client("alice", alice, 1000) }, 0},
		"poor":             {func(w *world) { w.client("alice", alice, 999) }, 999},
		"blocked":          {func(w *world) { w.client("alice", alice, 5000, func(c *store.TestClientConfig) { c.Blocked = true }) }, 5000},
		"another currency": {func(w *world) { w.client("alice", alice, 5000, func(c *store.TestClientConfig) { c.Country = "CI" }) }, 5000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
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
	w := newWorld(t)
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
			w := newWorld(t)
			w.client("alice", alice, 100_000)
			const callers = 32
			results := make(chan error, callers)
			for range callers {
				n := w.collection("the same", status, alice)
				go func() { results <- w.CreateCollection(context.Background(), w.sandbox.Tenant, n) }()
			}
			made, ids := 0, map[payments.ID]bool{}
			for range callers {
				var taken *store.ErrReferenceTaken
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
			w := newWorld(t)
			n := w.collection("r1", status, alice)
			w.config.Environments[0].Terms.CommissionBPS = 300
			w.apply()
			if err := w.CreateCollection(t.Context(), w.sandbox.Tenant, n); !errors.Is(err, store.ErrConfigChanged) {
				t.Fatalf("got %v, want ErrConfigChanged", err)
			}
			w.conserved()
		})
	}
}

func TestConcurrentCollectionsOfOneFloatAndOneSIM(t *testing.T) {
	w := newWorld(t)
	w.client("alice", alice, 40_000)
	var wg sync.WaitGroup
	for c := range 8 {
		var todo []*store.NewCollection
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
