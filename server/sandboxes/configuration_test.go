package sandboxes_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

const nobody = "00000000-0000-0000-0000-00000000dead"

func TestApplyingTheSameAgainWritesNothing(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) {
		limit := int64(5000)
		c.Environments[0].MaxAmount = &limit
	})
	client := w.Client("alice", alice, 5000)
	w.Busy()
	state, before := w.Apply(), w.Written()
	if diff := cmp.Diff(state, w.Apply()); diff != "" {
		t.Errorf("state (-first +second):\n%s", diff)
	}
	if err := w.ApplyCredentials(t.Context(), w.Config.UID, sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: secret}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ApplyTestClient(t.Context(), w.Config.UID, client); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

func TestSandboxState(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.Create(w.Collection("r1", payments.Success, alice))
	w.Config.Environments[1].Enabled = false
	state := w.Apply()
	want := sandboxes.SandboxState{
		OrganizationID: w.Sandbox.OrganizationID, Balances: map[payments.Currency]int64{payments.RWF: 1985, payments.XOF: 0}, TestClients: 1,
		Transactions: sandboxes.TransactionCounts{Total: 1}, Clock: sandboxes.ClockState{Mode: sandboxes.RealClock},
		Endpoint: webhooks.EndpointHealth{State: webhooks.EndpointHealthy},
		Environments: []sandboxes.EnvironmentState{
			{
				ID:       w.Sandbox.Environments[sandboxes.Market{Operator: payments.MTN, Country: payments.Rwanda}].ID,
				Operator: payments.MTN,
				Country:  payments.Rwanda,
				Currency: payments.RWF,
				Enabled:  true,
			},
			{
				ID:       w.Sandbox.Environments[sandboxes.Market{Operator: payments.Orange, Country: payments.CoteDIvoire}].ID,
				Operator: payments.Orange,
				Country:  payments.CoteDIvoire,
				Currency: payments.XOF,
			},
		},
	}
	if diff := cmp.Diff(want, state); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestEveryEditIsSeenByTheDirectory(t *testing.T) {
	mtn := sandboxes.Market{Operator: payments.MTN, Country: payments.Rwanda}
	limit, other := int64(7), int64(8)
	cases := map[string]struct {
		edit func(*sandboxes.Config)
		want func(*sandboxes.Sandbox)
	}{
		"latency": {func(c *sandboxes.Config) { c.LatencyPercent = 0 }, func(s *sandboxes.Sandbox) { s.LatencyPercent = 0 }},
		"a store more": {
			func(c *sandboxes.Config) { c.Stores = []string{"shop", "kiosk"} },
			func(s *sandboxes.Sandbox) { s.Stores["kiosk"] = true },
		},
		"a store less": {func(c *sandboxes.Config) { c.Stores = nil }, func(s *sandboxes.Sandbox) {
			delete(s.Stores, "shop")
			s.FirstStore = ""
		}},
		"an environment less": {
			func(c *sandboxes.Config) { c.Environments = c.Environments[1:] },
			func(s *sandboxes.Sandbox) {
				delete(s.Environments, mtn)
				s.Markets = s.Markets[1:]
			},
		},
		"enabled": {
			func(c *sandboxes.Config) { c.Environments[0].Enabled = false },
			environment(mtn, func(e *sandboxes.Environment) { e.Enabled = false }),
		},
		"commission": {
			func(c *sandboxes.Config) { c.Environments[0].Terms.CommissionBPS = 1 },
			environment(mtn, func(e *sandboxes.Environment) { e.Terms.CommissionBPS = 1 }),
		},
		"absorption": {
			func(c *sandboxes.Config) { c.Environments[0].Terms.AbsorptionPct = 1 },
			environment(mtn, func(e *sandboxes.Environment) { e.Terms.AbsorptionPct = 1 }),
		},
		"policy": {
			func(c *sandboxes.Config) { c.Environments[0].UnknownPolicy = payments.Passthrough },
			environment(mtn, func(e *sandboxes.Environment) { e.UnknownPolicy = payments.Passthrough }),
		},
		"a limit": {
			func(c *sandboxes.Config) { c.Environments[0].MaxAmount = &limit },
			environment(mtn, func(e *sandboxes.Environment) { e.MaxAmount = &limit }),
		},
		"another limit": {
			func(c *sandboxes.Config) { c.Environments[1].MaxAmount = &limit },
			environment(
				sandboxes.Market{Operator: payments.Orange, Country: payments.CoteDIvoire},
				func(e *sandboxes.Environment) { e.MaxAmount = &limit },
			),
		},
		"no limit": {
			func(c *sandboxes.Config) { c.Environments[1].MaxAmount = nil },
			environment(
				sandboxes.Market{Operator: payments.Orange, Country: payments.CoteDIvoire},
				func(e *sandboxes.Environment) { e.MaxAmount = nil },
			),
		},
		"no endpoint": {func(c *sandboxes.Config) { c.Webhook = nil }, func(s *sandboxes.Sandbox) { s.WebhookHost = "" }},
		"other endpoint": {
			func(c *sandboxes.Config) { c.Webhook = &sandboxes.WebhookConfig{URL: "http://elsewhere"} },
			func(s *sandboxes.Sandbox) { s.WebhookHost = "elsewhere:80" },
		},
		"other retries": {func(c *sandboxes.Config) {
			c.Webhook = &sandboxes.WebhookConfig{URL: c.Webhook.URL, Retry: sandboxes.RetryPolicy{MaxRetries: 1}}
		}, func(*sandboxes.Sandbox) {}},
		"float of a kind": {
			func(c *sandboxes.Config) { c.OpeningFloat = map[payments.Currency]int64{payments.XOF: 1} },
			func(*sandboxes.Sandbox) {},
		},
	}
	w := newFixture(t, func(c *sandboxes.Config) { c.Environments[1].MaxAmount = &other })
	directory, original := sandboxes.NewDirectory(w.Store.DB), w.Config
	get := func() *sandboxes.Sandbox {
		t.Helper()
		w.Apply()
		if err := directory.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		sandbox, ok := directory.ByKey(w.Key)
		if !ok {
			t.Fatal("the key is unknown")
		}
		return sandbox
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w.Config = original
			w.Config.Environments = slices.Clone(original.Environments)
			before := get()
			c.edit(&w.Config)
			got := get()
			if got.ConfigVersion <= before.ConfigVersion {
				t.Errorf("version %d after %d", got.ConfigVersion, before.ConfigVersion)
			}
			want := *before
			want.ConfigVersion, want.Environments, want.Stores = got.ConfigVersion, maps.Clone(before.Environments), maps.Clone(before.Stores)
			c.want(&want)
			if diff := cmp.Diff(&want, got, cmp.AllowUnexported(payments.Known{})); diff != "" {
				t.Errorf("sandbox (-want +got):\n%s", diff)
			}
		})
	}
}

func environment(at sandboxes.Market, change func(*sandboxes.Environment)) func(*sandboxes.Sandbox) {
	return func(s *sandboxes.Sandbox) {
		e := s.Environments[at]
		change(&e)
		s.Environments[at] = e
	}
}

func TestEnvironmentThatComesBackHasItsOldID(t *testing.T) {
	w := newFixture(t)
	made := w.Create(w.Collection("r1", payments.Success, alice))
	all, before := w.Config.Environments, w.Apply()
	w.Config.Environments = all[1:]
	if got := w.Apply(); len(got.Environments) != 1 {
		t.Errorf("a removed environment is listed: %+v", got.Environments)
	}
	if got := w.Get(made.ID); got.EnvironmentID != before.Environments[0].ID {
		t.Errorf("the history has %s", got.EnvironmentID)
	}
	w.Config.Environments = all
	if diff := cmp.Diff(before, w.Apply()); diff != "" {
		t.Errorf("state (-before +after):\n%s", diff)
	}
}

func TestRowsChangedByHandArePutBack(t *testing.T) {
	cases := map[string]string{
		"settings":           "update organizations set latency_percent = 1, webhook_url = 'http://x', webhook_max_retries = 1, webhook_initial_delay_ms = 1, webhook_factor = 1, webhook_max_delay_ms = 1",
		"no endpoint":        "update organizations set webhook_url = null",
		"another name":       "update organizations set namespace = 'other', name = 'other'",
		"environments":       "update environments set enabled = not enabled, commission_bps = 9, absorption_pct = 9, unknown_policy = 'x', currency = 'EUR', max_amount = 1",
		"removed":            "update environments set removed = true",
		"other environment":  "insert into environments select tenant, 'env_x', 'moov', 'BJ', 'XOF', true, false, 0, 0, 'reject' from organizations",
		"stores":             "delete from stores",
		"removed stores":     "update stores set removed = true",
		"other store":        "insert into stores select tenant, 'other' from organizations",
		"keys":               "delete from api_keys",
		"another key":        "update api_keys set hash = sha256('mine')",
		"one more key":       "insert into api_keys select tenant, sha256('mine') from organizations",
		"signing secret":     "update organizations set signing_secret = '\\x00'",
		"no signing secret":  "update organizations set signing_secret = null",
		"opening float":      "update floats set opening = 3",
		"test client":        "update sims set name = 'x', msisdn = '+1', operator = 'x', country = 'x', currency = 'x', blocked = true, behavior = 'x'",
		"opening balance":    "update sims set opening = 3",
		"test client's row":  "with gone as (delete from sims) delete from adjustments where sim_id is not null",
		"a float's row":      "with gone as (delete from floats) delete from adjustments where currency is not null",
		"all of these rows":  "with a as (delete from stores), b as (delete from api_keys), c as (delete from floats), d as (delete from sims) delete from adjustments",
		"nothing whatsoever": "select 1",
	}
	w := newFixture(t)
	client := w.Client("alice", alice, 5000)
	before := w.configuration()
	for name, sql := range cases {
		t.Run(name, func(t *testing.T) {
			w.Exec(sql)
			w.Open()
			if _, err := w.ApplyTestClient(t.Context(), w.Config.UID, client); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, w.configuration()); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
			w.Conserved()
		})
	}
}

// configuration is what the resources decide, as it is in the database.
func (w *fixture) configuration() map[string][]string {
	w.T.Helper()
	all := map[string][]string{"signing secret": nil}
	for what, sql := range map[string]string{
		"organization": "select tenant, org_id, namespace, name, latency_percent, webhook_url, webhook_max_retries, webhook_initial_delay_ms, webhook_factor, webhook_max_delay_ms from organizations",
		"environments": "select * from environments where not removed",
		"stores":       "select slug from stores where not removed",
		"keys":         "select hash from api_keys",
		"floats":       "select tenant, currency, balance, opening from floats",
		"sims":         "select tenant, sim_id, name, msisdn, operator, country, currency, blocked, behavior, balance, opening from sims",
	} {
		all[what] = read[[]string](w, "select array_agg(x::text order by x::text) from ("+sql+") x")
	}
	stored, err := w.SigningSecret(w.T.Context(), w.Config.UID)
	if err != nil {
		w.T.Fatal(err)
	}
	all["signing secret"] = []string{stored}
	return all
}

func TestEditedFloatIsAnAdjustment(t *testing.T) {
	w := newFixture(t)
	adjustments := func() []int64 {
		return read[[]int64](w, "select array_agg(delta order by created_at) from adjustments where currency = 'RWF'")
	}
	steps := []struct {
		opening map[payments.Currency]int64
		balance int64
		deltas  []int64
	}{
		{map[payments.Currency]int64{payments.RWF: 1000}, 1985, []int64{1000}}, // as it was
		{map[payments.Currency]int64{payments.RWF: 500}, 500, []int64{1000, -1485}},
		{map[payments.Currency]int64{payments.RWF: 501}, 501, []int64{1000, -1485, 1}},
		{nil, 0, []int64{1000, -1485, 1, -501}},
		{map[payments.Currency]int64{payments.RWF: 0}, 0, []int64{1000, -1485, 1, -501}},
	}
	w.Create(w.Collection("r1", payments.Success, alice))
	for _, step := range steps {
		w.Config.OpeningFloat = step.opening
		if got := w.Apply().Balances[payments.RWF]; got != step.balance {
			t.Errorf("opening %v: balance %d, want %d", step.opening, got, step.balance)
		}
		if diff := cmp.Diff(step.deltas, adjustments()); diff != "" {
			t.Errorf("opening %v: adjustments (-want +got):\n%s", step.opening, diff)
		}
		w.Conserved()
	}
}

func TestThereIsAFloatForEveryCurrency(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) {
		c.Environments, c.OpeningFloat = c.Environments[:1], map[payments.Currency]int64{payments.XOF: 7}
	})
	want := map[payments.Currency]int64{payments.RWF: 0, payments.XOF: 7} // XOF before it has an environment
	if diff := cmp.Diff(want, w.Apply().Balances); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Config.Environments, w.Config.OpeningFloat = nil, nil // a float stays when its environment goes
	want[payments.XOF] = 0
	if diff := cmp.Diff(want, w.Apply().Balances); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Conserved()
}

func TestApplySandboxThatMakesNoSense(t *testing.T) {
	w := newFixture(t)
	before := w.Written()
	cases := map[string]func(*sandboxes.Config){
		"no UUID": func(c *sandboxes.Config) { c.UID = "checkout" },
		"no market": func(c *sandboxes.Config) {
			c.Environments = []sandboxes.EnvironmentConfig{{Operator: payments.MTN, Country: "XX"}}
		},
		"below zero": func(c *sandboxes.Config) {
			c.OpeningFloat, c.LatencyPercent = map[payments.Currency]int64{payments.RWF: -1}, 7
		},
	}
	for name, change := range cases {
		config := w.Config
		change(&config)
		if _, err := w.ApplySandbox(t.Context(), config); err == nil || errors.Is(err, postgres.ErrUnavailable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

// A resource that was deleted and made again is another organization, also if the end of the first was never seen.
func TestSandboxOfTheSameNameIsAnother(t *testing.T) {
	w := newFixture(t)
	w.Busy()
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, impostor := w.Written(), w.Config
	impostor.UID = uuid.NewString()
	var taken sandboxes.ErrNameTaken
	for _, replaces := range []string{"", uuid.NewString()} { // a controller that does not know that the first is gone
		impostor.Replaces = replaces
		if _, err := w.ApplySandbox(t.Context(), impostor); !errors.As(err, &taken) || taken.UID != w.Config.UID {
			t.Errorf("the name of another one: %v", err)
		}
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows were written:\n%s", diff)
	}
	again := w.beside(w.Config.Name, func(c *sandboxes.Config) { c.Replaces = w.Config.UID })
	if again.Sandbox.OrganizationID == w.Sandbox.OrganizationID || again.Sandbox.Tenant == w.Sandbox.Tenant {
		t.Error("it is the same organization")
	}
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := directory.ByKey(w.Key); ok {
		t.Error("the key of the first still works")
	}
	if _, ok := directory.ByKey(again.Key); !ok {
		t.Error("the key of the second does not work")
	}
	if state := again.Apply(); state.TestClients != 0 || state.Balances[payments.RWF] != 1000 {
		t.Errorf("it begins with %+v", state)
	}
	// What it was to become of the rows of the first nobody knows: they stay, without a key or a secret, until they are purged.
	if n := w.Count("select count(*) from organizations where retained_at is not null and signing_secret is null"); n != 1 {
		t.Errorf("%d organizations are retained, want the first", n)
	}
	if n := w.Count("select count(*) from transactions where tenant = $1", w.Sandbox.Tenant); n == 0 {
		t.Error("the transactions of the first are gone")
	}
	if retained, err := w.RetainedSandboxes(t.Context(), 0); err != nil || len(retained) != 1 || retained[0].UID != w.Config.UID {
		t.Errorf("retained are %+v, %v", retained, err)
	}
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	for table, rows := range w.TenantTables(w.Sandbox.Tenant) {
		if rows != 0 {
			t.Errorf("%d rows of the first are left in %s", rows, table)
		}
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
			_, err := ledgertest.Open(t, url).ApplySandbox(t.Context(), sandboxes.Config{UID: "11111111-1111-1111-1111-111111111111"})
			if !errors.Is(err, postgres.ErrUnavailable) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
		})
	}
}
