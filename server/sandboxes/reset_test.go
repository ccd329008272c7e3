package sandboxes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// What a reset does to each table. A new table has to be written into one of the two, or it begins empty.
var (
	keptByReset   = []string{"organizations", "environments", "stores", "api_keys", "operator_credentials"}
	openedByReset = []string{"floats", "sims", "adjustments"}
)

// reset gives the sandbox a new value of spec.reset.
func (w *fixture) reset(value string) sandboxes.SandboxState {
	w.T.Helper()
	w.Config.Reset = value
	state := w.Apply()
	w.Reload()
	return state
}

// resets are the two ways to reset a sandbox, and whether the resource's value is another one then.
var resets = map[string]func(*fixture) sandboxes.SandboxState{
	"resource": func(w *fixture) sandboxes.SandboxState { return w.reset("1") },
	"API":      func(w *fixture) sandboxes.SandboxState { return w.resetByAPI() },
}

// resetByAPI resets the sandbox as its API key does.
func (w *fixture) resetByAPI() sandboxes.SandboxState {
	w.T.Helper()
	if err := ledgertest.OpenAs(w.T, w.URL, ledgertest.API).ResetByAPI(w.T.Context(), w.Sandbox.Tenant); err != nil {
		w.T.Fatal(err)
	}
	w.Reload()
	return w.Apply()
}

func TestResetEmptiesTheSandboxAndKeepsItsConfiguration(t *testing.T) {
	for how, reset := range resets {
		t.Run(how, func(t *testing.T) { resetEmptiesTheSandbox(t, how == "resource", reset) })
	}
}

func resetEmptiesTheSandbox(t *testing.T, byResource bool, reset func(*fixture) sandboxes.SandboxState) {
	limit, quota, rate := int64(70_000), int64(1000), int32(600)
	w := newFixture(t, func(c *sandboxes.Config) {
		c.Environments[0].MaxAmount, c.MonthlyQuota, c.RateLimit = &limit, &quota, &rate
		c.OpeningFloat[payments.XOF] = 7
		c.PendingTimeout = time.Minute
		c.API.Reset = true
	})
	other := w.beside("other")
	w.Busy()
	other.Busy()
	w.Client("alice", alice, 5000)
	w.Create(w.Collection("r1", payments.Success, alice))
	w.Exec(
		"insert into environments select tenant, 'env_gone', 'moov', 'BJ', 'XOF', true, true, 1, 2, 'reject', 3 from organizations where tenant = $1",
		w.Sandbox.Tenant,
	)
	w.Exec("insert into api_keys (tenant, hash, expires_at) values ($1, sha256('old'), now() + interval '1 day')", w.Sandbox.Tenant)
	former, before, ofOther := *w.Sandbox, w.kept(w.Sandbox.Tenant), other.configurationOf(other.Sandbox.Tenant)
	bob := ledger.TestClient{SIM: payments.SIM{ID: [16]byte{1}, MSISDN: "+250788000077", Country: payments.Rwanda}}
	if err := w.AddTestClient(t.Context(), w.Sandbox, bob); err != nil {
		t.Fatal(err)
	}

	state := reset(w)
	if w.Sandbox.Tenant == former.Tenant || w.Sandbox.OrganizationID != former.OrganizationID {
		t.Fatalf("it was %+v and is %+v", former, w.Sandbox)
	}
	if diff := cmp.Diff(before, w.kept(w.Sandbox.Tenant)); diff != "" {
		t.Errorf("configuration (-before +after):\n%s", diff)
	}
	for table, rows := range w.TenantTables(w.Sandbox.Tenant) {
		kept := slices.Contains(keptByReset, table) || slices.Contains(openedByReset, table)
		if !kept && rows != 0 {
			t.Errorf("%s has %d rows: empty it in a reset, or write it into keptByReset", table, rows)
		}
		if kept && rows == 0 {
			t.Errorf("%s has no rows", table)
		}
	}
	want := map[payments.Currency]int64{payments.RWF: 1000, payments.XOF: 7}
	if diff := cmp.Diff(want, state.Balances); diff != "" || w.Balance(alice) != 5000 {
		t.Errorf("the SIM has %d, floats (-want +got):\n%s", w.Balance(alice), diff)
	}
	if (state.Reset == "1") != byResource || state.TestClients != 2 || state.Transactions != (sandboxes.TransactionCounts{}) ||
		state.Endpoint != (webhooks.EndpointHealth{State: webhooks.EndpointHealthy}) {
		t.Errorf("the state is %+v", state)
	}
	if diff := cmp.Diff(ofOther, other.configurationOf(other.Sandbox.Tenant)); diff != "" {
		t.Errorf("the other sandbox (-before +after):\n%s", diff)
	}
	w.sweepRetired()
	w.Conserved()
	w.Create(w.Collection("r1", payments.Success, alice)) // its reference is free again
	w.Conserved()
}

// kept is what a reset leaves as it is: configuration, and SIMs but for their balances.
func (w *fixture) kept(tenant int64) map[string][]string {
	w.T.Helper()
	rows := map[string][]string{}
	for _, table := range append(slices.Clone(keptByReset), "sims") {
		rows[table] = read[[]string](w, `select array_agg(row::text order by row::text) from (
			select to_jsonb(x) - '{tenant,version,reset,applied,api_resets}'::text[] - case when $2 = 'sims' then '{balance,changed_at,movements}' else '{}' end::text[] as row
			from `+table+` x where tenant = $1) rows`, tenant, table)
	}
	return rows
}

// sweepRetired removes what stands for nothing any more.
func (w *fixture) sweepRetired() {
	w.T.Helper()
	for table := range w.TenantTables(0) {
		w.Exec("delete from " + table + " where tenant in (select tenant from retired_tenants)")
	}
}

func TestEachResetIsCarriedOutOnce(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.Reset = "made with" })
	steps := []struct {
		value, done string
		resets      bool
	}{
		{"made with", "made with", false},
		{"1", "1", true},
		{"1", "1", false},
		{"", "1", false}, // taken out of the resource
		{"1", "1", false},
		{"2", "2", true},
		{"1", "1", true},
	}
	for _, step := range steps {
		before, written := w.Sandbox.Tenant, w.Written()
		state := w.reset(step.value)
		if state.Reset != step.done || (w.Sandbox.Tenant != before) != step.resets {
			t.Errorf("%q: %q was carried out, tenant %d after %d", step.value, state.Reset, w.Sandbox.Tenant, before)
		}
		if !step.resets {
			if diff := cmp.Diff(written, w.Written()); diff != "" {
				t.Errorf("%q wrote (-before +after):\n%s", step.value, diff)
			}
		}
	}
	if got := w.Count("select count(*) from retired_tenants"); got != 3 {
		t.Errorf("%d tenants were retired, want 3", got)
	}
}

func TestResetTakesTheOpeningValuesOfThePresentResource(t *testing.T) {
	w := newFixture(t)
	c := w.Client("alice", alice, 5000)
	w.Create(w.Collection("r1", payments.Success, alice))
	w.Config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 250, payments.XOF: 9}
	want := map[payments.Currency]int64{payments.RWF: 250, payments.XOF: 9}
	if diff := cmp.Diff(want, w.reset("1").Balances); diff != "" {
		t.Errorf("floats (-want +got):\n%s", diff)
	}
	if got := read[[]int64](
		w,
		"select array_agg(delta order by delta) from adjustments where tenant = $1",
		w.Sandbox.Tenant,
	); !cmp.Equal(
		got,
		[]int64{9, 250, 5000},
	) {
		t.Errorf("it begins with the adjustments %v", got)
	}
	c.Balance, c.Blocked = 70, true // the SIM is found, and follows its resource
	state, err := w.ApplyTestClient(t.Context(), w.Config.UID, c)
	if err != nil || state.Balance != 70 || w.Balance(alice) != 70 {
		t.Errorf("the SIM has %d, told %d, %v", w.Balance(alice), state.Balance, err)
	}
	w.sweepRetired()
	w.Conserved()
}

// Whoever holds a configuration of before a reset is told so, and never sees or writes what was before.
func TestNothingPassesThroughAFormerTenant(t *testing.T) {
	for name, end := range map[string]func(*fixture) error{
		"reset":    func(w *fixture) error { w.reset("1"); return nil },
		"retained": func(w *fixture) error { return w.RetainSandbox(t.Context(), w.Config.UID) },
		"deleted":  func(w *fixture) error { return w.DeleteSandbox(t.Context(), w.Config.UID) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.Client("alice", alice, 5000)
			made := w.Create(w.Collection("r1", payments.Success, alice))
			success, failure := w.Collection("r2", payments.Success, alice), w.Collection("r3", payments.UnknownMSISDN, alice)
			refund := ledger.NewRefund{
				RequestHash: []byte("r4"), ID: success.Transaction.ID, ParentID: made.ID, Details: payments.Details{Reference: "r4"},
			}
			former, known := w.Sandbox.Tenant, *w.Sandbox
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			before := w.Written()
			for call, err := range map[string]error{
				"get":       second(w.GetTransaction(t.Context(), former, made.ID)),
				"get of":    second(w.GetTransactionBatched(t.Context(), &known, made.ID)),
				"reference": third(w.FindReference(t.Context(), former, "r1")),
				"sim":       second(w.FindSIM(t.Context(), former, alice)),
				"list":      second(w.ListTransactions(t.Context(), former, lists.Filter{}, nil, 10)),
				"webhook":   second(w.ReadWebhook(t.Context(), former)),
				"rate":      second(w.TakeRequests(t.Context(), former, 10, 1, sandboxes.Grant{})),
				"success":   w.CreateCollection(t.Context(), former, success),
				"failure":   w.CreateCollection(t.Context(), former, failure),
				"refund":    third(w.CreateRefund(t.Context(), former, refund)),
			} {
				if !errors.Is(err, postgres.ErrConfigChanged) {
					t.Errorf("%s: got %v, want ErrConfigChanged", call, err)
				}
			}
			if diff := cmp.Diff(before, w.Written()); diff != "" {
				t.Errorf("rows (-before +after):\n%s", diff)
			}
		})
	}
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }

func TestPaymentsDuringResets(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 1_000_000)
	directory := sandboxes.NewDirectory(w.Store.DB)
	present := func() *sandboxes.Sandbox {
		if err := directory.Refresh(context.Background()); err != nil {
			t.Error(err)
		}
		sandbox, _ := directory.ByKey(w.Key)
		return sandbox
	}
	stop := make(chan struct{})
	var payers sync.WaitGroup
	for c := range 4 {
		template := w.Collection("", payments.Success, alice)
		payers.Go(func() {
			sandbox := present()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				n := *template
				n.Transaction.Status = []payments.Status{payments.Success, payments.Pending}[i%2]
				n.Transaction.ID[15], n.Transaction.ID[14], n.Transaction.ID[13] = byte(c), byte(i), byte(i>>8)
				n.Transaction.Reference, n.ConfigVersion = fmt.Sprint(c, "-", i), sandbox.ConfigVersion
				err := w.CreateCollection(context.Background(), sandbox.Tenant, &n)
				if errors.Is(err, postgres.ErrConfigChanged) {
					sandbox = present()
				} else if err != nil {
					t.Error(err)
					return
				}
				if i%8 == 0 {
					if _, err := ledgertest.SettleDue(context.Background(), w.Store, 50); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for i := range 10 {
		atLeast := w.Count("select count(*) from transactions") + 20
		ledgertest.Eventually(t, func() bool { return w.Count("select count(*) from transactions") >= atLeast })
		w.reset(fmt.Sprint(i))
	}
	close(stop)
	payers.Wait()
	if got := w.Count("select count(*) from organizations"); got != 1 {
		t.Fatalf("there are %d organizations", got)
	}
	w.sweepRetired()
	w.Conserved()
	state := w.Apply()
	if got := int64(w.Count("select count(*) from transactions")); state.Transactions.Total != got {
		t.Errorf("%d transactions are counted, and there are %d", state.Transactions.Total, got)
	}
}

// A TestClient that is deleted while a reset copies its SIM leaves none behind.
func TestTestClientDeletedDuringAReset(t *testing.T) {
	w := newFixture(t)
	c := w.Client("alice", alice, 5000)
	w.Config.Reset = "1"
	results := make(chan error, 2)
	err := pgx.BeginFunc(t.Context(), w.SQL, func(tx pgx.Tx) error {
		// The reset stops at its last statement.
		if _, err := tx.Exec(t.Context(), "select from config_version for update"); err != nil {
			return err
		}
		waiting := func(n int) func() bool {
			return func() bool {
				return w.Count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == n
			}
		}
		go func() { results <- second(w.ApplySandbox(context.Background(), w.Config)) }()
		ledgertest.Eventually(t, waiting(1))
		go func() { results <- w.DeleteTestClient(context.Background(), c.UID) }()
		ledgertest.Eventually(t, waiting(2))
		return nil
	})
	if err := errors.Join(err, <-results, <-results); err != nil {
		t.Fatal(err)
	}
	if got := w.Count("select count(*) from sims"); got != 0 {
		t.Errorf("%d SIMs are left", got)
	}
}

// After a reset through the API the resources are as they want to be, with the resource's own value of a reset.
func TestControllerHasNothingToDoAfterAResetByAPI(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.API.Reset, c.Reset = true, "made with" })
	alices := w.Client("alice", alice, 5000)
	w.Create(w.Collection("r1", payments.Success, alice))
	since := read[time.Time](w, "select clock_timestamp()")
	if err := w.ResetByAPI(t.Context(), w.Sandbox.Tenant); err != nil {
		t.Fatal(err)
	}
	before := w.Written()
	if state := w.Apply(); state.Reset != "made with" || state.Balances[payments.RWF] != 1000 || state.Transactions.Total != 0 {
		t.Errorf("it is %+v", state)
	}
	if state, err := w.ApplyTestClient(t.Context(), w.Config.UID, alices); err != nil || state.Balance != 5000 {
		t.Errorf("the SIM is %+v, %v", state, err)
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
	if inventory, err := w.Inventory(t.Context()); err != nil || !inventory.HoldsSandbox(w.Config.UID) ||
		!inventory.HoldsTestClient(w.Config.UID, alices) {
		t.Errorf("a reset is taken for drift: %v", err)
	}
	changes, _, err := w.ChangedAccounts(t.Context(), since)
	if err != nil || len(changes) != 2 {
		t.Errorf("the status follows for %v, %v, want the sandbox and its TestClient", changes, err)
	}
}

// Whoever may not reset a sandbox through the API does not, by whatever the caller believed.
func TestResetByAPIWhereItIsNotAllowed(t *testing.T) {
	for name, change := range map[string]func(*sandboxes.Config){
		"by default":    func(*sandboxes.Config) {},
		"switched off":  func(c *sandboxes.Config) { c.API.Reset, c.API.TestClients = false, true },
		"suspended":     func(c *sandboxes.Config) { c.API.Reset, c.Suspended = true, true },
		"tenant before": func(c *sandboxes.Config) { c.API.Reset, c.Reset = true, "1" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.Create(w.Collection("r1", payments.Success, alice))
			change(&w.Config)
			w.Apply()
			before := w.Written()
			if err := w.ResetByAPI(t.Context(), w.Sandbox.Tenant); !errors.Is(err, postgres.ErrConfigChanged) {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(before, w.Written()); diff != "" {
				t.Errorf("rows (-before +after):\n%s", diff)
			}
		})
	}
}

// Outside of the scope of its tenant nobody calls it, and in no scope it does nothing.
func TestResetByAPIIsForTheTenantAlone(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.API.Reset = true })
	for _, role := range []string{ledgertest.API, ledgertest.Worker, ledgertest.Controller} {
		conn := ledgertest.Connect(t, ledgertest.URLAs(t, w.URL, role))
		if _, err := conn.Exec(t.Context(), "select reset_sandbox()"); err == nil {
			t.Errorf("%s may call it", role)
		}
	}
	conn := ledgertest.Connect(t, ledgertest.URLAs(t, w.URL, ledgertest.API))
	var tenant *int64
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "set local role cauri_tenant"); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), "select reset_sandbox()").Scan(&tenant)
	})
	if err != nil || tenant != nil {
		t.Errorf("without a scope it resets %v, %v", tenant, err)
	}
}

// The count is in the database, for all replicas. The controller's resets are neither refused nor counted.
func TestResetsByAPIAreLimited(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.API.Reset = true })
	reset := func(before string) error {
		w.Exec("update organizations set api_resets = array_fill(clock_timestamp() - $1::interval, array[5])", before)
		err := w.ResetByAPI(t.Context(), w.Sandbox.Tenant)
		w.Reload()
		return err
	}
	for range 10 {
		if err := reset("1 second"); err != nil {
			t.Fatalf("five resets of a second ago: %v", err)
		}
	}
	refused, tenant := false, w.Sandbox.Tenant
	ledgertest.Eventually(t, func() bool { // where the statements take more than a second, it is not refused
		tenant = w.Sandbox.Tenant
		err := reset("0 seconds")
		refused = errors.Is(err, sandboxes.ErrTooManyResets)
		return refused
	})
	if w.Sandbox.Tenant != tenant {
		t.Error("what was refused was carried out")
	}
	w.Exec("update organizations set api_resets = array_fill(clock_timestamp(), array[5])")
	if w.reset("1"); w.Sandbox.Tenant == tenant {
		t.Error("the reset of the resource was refused")
	}
	w.Exec("update organizations set api_resets = '{}'")
	for range 5 {
		if err := w.ResetByAPI(t.Context(), w.Sandbox.Tenant); err != nil {
			t.Fatalf("one of the first five: %v", err)
		}
		w.Reload()
	}
	if got := w.Count("select cardinality(api_resets) from organizations"); got != 5 {
		t.Errorf("%d resets are counted", got)
	}
}

// Resets by the API, by the resource, payments and changes of the configuration at once: every reset is carried out, none twice, and
// nothing of one state reaches another.
func TestResetsByAPIAndByResource(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.API.Reset = true })
	w.Client("alice", alice, 1_000_000)
	directory := sandboxes.NewDirectory(w.Store.DB)
	present := func() *sandboxes.Sandbox {
		if err := directory.Refresh(context.Background()); err != nil {
			t.Error(err)
		}
		sandbox, _ := directory.ByKey(w.Key)
		return sandbox
	}
	var callers sync.WaitGroup
	carriedOut := make(chan struct{}, 100)
	for range 3 {
		callers.Go(func() {
			for done := 0; done < 5; {
				err := w.ResetByAPI(context.Background(), present().Tenant)
				if err == nil {
					done++
					carriedOut <- struct{}{}
				} else if !errors.Is(err, postgres.ErrConfigChanged) && !errors.Is(err, sandboxes.ErrTooManyResets) {
					t.Error(err)
					return
				}
			}
		})
	}
	template := w.Collection("", payments.Success, alice)
	callers.Go(func() {
		for i := range 60 {
			sandbox, n := present(), *template
			n.Transaction.ID[15], n.Transaction.Reference, n.ConfigVersion = byte(i), fmt.Sprint(i), sandbox.ConfigVersion
			if err := w.CreateCollection(context.Background(), sandbox.Tenant, &n); err != nil && !errors.Is(err, postgres.ErrConfigChanged) {
				t.Error(err)
			}
		}
	})
	for i := range 5 {
		w.Config.Reset, w.Config.LatencyPercent = fmt.Sprint(i), i
		w.Apply()
		w.Client("alice", alice, int64(1_000_000+i))
	}
	callers.Wait()
	if got := w.Count("select count(*) from retired_tenants"); got != 5+len(carriedOut) || len(carriedOut) != 15 {
		t.Errorf("%d tenants were retired by 5 resets of the resource and %d of the API", got, len(carriedOut))
	}
	if state := w.Apply(); state.Reset != "4" {
		t.Errorf("the last reset of the resource is %q", state.Reset)
	}
	w.sweepRetired()
	w.Conserved()
	w.Reload()
	if w.Sandbox.LatencyPercent != 4 || w.Count("select count(*) from organizations") != 1 {
		t.Errorf("the sandbox is %+v", w.Sandbox)
	}
}
