package worker_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/worker"
)

// exec runs SQL as somebody who may do everything.
func (w *fixture) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.sql.Exec(w.t.Context(), sql, args...); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// known gives a sandbox a SIM like alice's, which transactions that were copied name.
func (w *fixture) known(tenants ...int64) {
	w.t.Helper()
	for _, tenant := range tenants {
		w.exec("insert into sims select (jsonb_populate_record(s, jsonb_build_object('tenant', $1::bigint))).* from sims s where tenant = $2",
			tenant, w.sandbox.Tenant)
	}
}

// old makes the events of a sandbox, one, such that retention removes it.
func (w *fixture) old(tenant int64) {
	w.t.Helper()
	for _, sql := range oldEvent {
		w.exec(sql, tenant)
	}
}

var oldEvent = []string{
	"update events set id = '00000000-0000-7000-8000-000000000001', state = 'delivered', due_at = null, created_at = now() - interval '3 days' where tenant = $1",
	"update transactions set id = '00000000-0000-7000-8000-000000000001' where tenant = $1 and status = 'PIN_INVALID'",
}

// What a row holds that only somebody with the database's password can have written, or what a receiver does.
type poison struct {
	sql   []string // $1 is the tenant
	url   string   // of its endpoint; empty: the receiver of the test
	fails string   // the sweep that fails in this sandbox alone; empty: none
	want  string   // what becomes of its pending payment; empty: whatever
}

func poisons(hell *receiverFromHell) map[string]poison {
	const most = "9223372036854775807"
	return map[string]poison{
		"float at its bound": {sql: []string{"update floats set balance = 1000000000000000 where tenant = $1"}, want: "LIMIT_EXCEEDED"},
		"SIM at its bound":   {sql: []string{"update sims set balance = 1000000000000000 where tenant = $1"}, want: "SUCCESS"},
		"no float":           {sql: []string{"delete from floats where tenant = $1"}, fails: "settlement", want: "PENDING"},
		"no environment, no store": {sql: []string{"delete from environments where tenant = $1", "delete from stores where tenant = $1"},
			want: "SUCCESS"},
		"no endpoint health": {sql: []string{"delete from endpoint_health where tenant = $1"}, want: "SUCCESS"},
		"amounts at their limit": {sql: []string{"update transactions set net_amount = " + most + ", commission = " + most +
			" where tenant = $1 and status = 'PENDING'"}},
		"an event before its time": {
			sql: []string{
				"insert into events (tenant, id, state) select tenant, id, 'recorded' from transactions where tenant = $1 and status = 'PENDING' and not passthrough",
			},
			fails: "settlement",
			want:  "PENDING",
		},
		"due before all times": {
			sql:   []string{"update transactions set due_at = '-infinity' where tenant = $1 and status = 'PENDING' and not passthrough"},
			fails: "settlement",
			want:  "PENDING",
		},
		"made after all times": {sql: []string{"update transactions set created_at = 'infinity' where tenant = $1 and passthrough"},
			fails: "passthrough"},
		"lease of a forward at limit": {sql: []string{"update transactions set forward_fence = " + most + " where tenant = $1 and passthrough"},
			fails: "passthrough"},
		"no failures of a forward":   {sql: []string{"update transactions set forward_failures = null where tenant = $1 and passthrough"}},
		"no expiry":                  {sql: []string{"update transactions set expires_at = null where tenant = $1"}},
		"lease of an event at limit": {sql: []string{"update events set fence = " + most + " where tenant = $1"}, fails: "delivery"},
		"event made after all times": {
			sql:   []string{"update transactions set created_at = 'infinity' where tenant = $1 and id in (select id from events where tenant = $1)"},
			fails: "delivery",
		},
		"attempts at their limit": {sql: []string{"update events set attempts = 2147483647 where tenant = $1"}},
		"failures at their limit": {
			sql: []string{"insert into endpoint_health (tenant, failures, failed, delivered) values ($1, 2147483647, " + most + ", " + most + ")"},
		},
		"broken signing secret": {sql: []string{`update organizations set signing_secret = '\x00' where tenant = $1`}},
		"no signing secret":     {sql: []string{"update organizations set signing_secret = null where tenant = $1"}},
		"broken body":           {sql: []string{`update events set body = '\x00ff' where tenant = $1`}},
		"broken credentials": {sql: []string{`insert into operator_credentials (tenant, store, operator, country, base_url, sealed)
			values ($1, 'shop', 'mtn', 'RW', 'http://127.0.0.1:1', '\x00')`}},
		"operator that is no URL": {sql: []string{`insert into operator_credentials (tenant, store, operator, country, base_url)
			values ($1, 'shop', 'mtn', 'RW', 'http://[::')`}},
		"endpoint that is no URL": {url: "http://[::"},
		"schedule that is none": {sql: []string{"update organizations set webhook_factor = 'NaN', webhook_initial_delay_ms = " + most +
			", webhook_max_delay_ms = -1, webhook_max_retries = -1 where tenant = $1"}},
		"settings that are none": {sql: []string{
			"update organizations set latency_percent = 2147483647, pending_timeout_ms = " + most +
				", webhook_types = '{x}', monthly_quota = -1, rate_limit = -1 where tenant = $1",
			"update environments set operator = 'x', country = 'x', currency = 'x', unknown_policy = 'x', commission_bps = -1, absorption_pct = 2147483647, max_amount = -1 where tenant = $1 and operator = 'mtn'",
			"update sims set operator = 'x', country = 'x', currency = 'x', behavior = 'x' where tenant = $1",
		}},
		"keys that are none": {sql: []string{`update api_keys set hash = '\x00' where tenant = $1`,
			`insert into api_keys (tenant, hash, expires_at) values ($1, sha256('x'), 'infinity')`}},
		"changed after all times": {
			sql: []string{
				"insert into activity (tenant, changed_at) values ($1, 'infinity') on conflict (tenant) do update set changed_at = 'infinity'",
				"update sims set changed_at = 'infinity' where tenant = $1",
				"update floats set changed_at = 'infinity' where tenant = $1",
			},
		},
		"counts that cannot go down": {sql: append([]string{"insert into endpoint_health (tenant, delivered) values ($1, -9223372036854775808)"},
			oldEvent...)},
		"receiver that hangs":     {url: hell.url + "/hang"},
		"receiver that floods":    {url: hell.url + "/flood"},
		"receiver that resets":    {url: hell.url + "/reset"},
		"receiver that redirects": {url: hell.url + "/redirect"},
		"receiver that drips":     {url: hell.url + "/drip"},
	}
}

// receiverFromHell does with an event what its path says, until the test ends.
type receiverFromHell struct {
	url string
}

func newReceiverFromHell(t *testing.T) *receiverFromHell {
	t.Helper()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-over
		case "/flood":
			for junk := make([]byte, 64<<10); ; {
				if _, err := rw.Write(junk); err != nil {
					return
				}
			}
		case "/reset":
			conn, _, err := http.NewResponseController(rw).Hijack()
			if err == nil {
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}
		case "/redirect":
			http.Redirect(rw, r, "/redirect", http.StatusTemporaryRedirect)
		case "/drip":
			rw.WriteHeader(http.StatusOK)
			for {
				_, err := rw.Write([]byte("x"))
				_ = http.NewResponseController(rw).Flush()
				select {
				case <-over:
					return
				case <-r.Context().Done():
					return
				case <-time.After(10 * time.Millisecond):
				}
				if err != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	return &receiverFromHell{server.URL}
}

// One sandbox is never everybody's problem: beside sandboxes with every kind of row that the schema allows and no program writes, and
// with receivers from hell, everything that a healthy one is owed is done, and what was poisoned says so where it stands still.
func TestPoisonedSandboxesFailAlone(t *testing.T) {
	w := newPassthrough(t)
	hell := newReceiverFromHell(t)
	all := poisons(hell)
	pending, forward, failed := w.pay("pending", payments.Pending), w.collect("forward", payments.MTN), w.pay("failed", payments.PINInvalid)
	tenants := map[string]int64{}
	for name, p := range all {
		url := w.hook.url
		if p.url != "" {
			url = p.url
		}
		slug := strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(name))
		tenants[name] = w.beside(slug, url)
	}
	// A worker may have nothing before all is poisoned.
	for name, tenant := range tenants {
		w.known(tenant)
		w.queue(failed, 1, tenant)
		w.copies(pending, 1, tenant)
		w.copies(forward, 1, tenant)
		for _, sql := range all[name].sql {
			w.exec(sql, tenant)
		}
	}
	late := w.beside("late", w.hook.url) // made after the others, so that it comes after them
	w.queue(failed, 1, late)
	w.old(late)
	retired := read[int64](
		w,
		"insert into retired_tenants (tenant, resource_uid, version, retired_at) values (nextval('tenant_numbers'), gen_random_uuid(), 1, now() - interval '1 hour') returning tenant",
	)
	w.exec("insert into stores (tenant, slug) values ($1, 'left')", retired)
	expires := w.pay("expires", payments.Pending)
	w.exec("update transactions set due_at = now(), expires_at = now() where id = $1", [16]byte(expires))

	registry := prometheus.NewRegistry()
	w.run(func(o *worker.Options) { o.Metrics, o.EventRetention = telemetry.NewWorker(registry), 48*time.Hour })
	for id, want := range map[payments.ID]payments.Status{pending: payments.Success, forward: payments.Success, expires: payments.Timeout} {
		if got := w.ended(id); got.Status != want {
			t.Errorf("%s of the healthy sandbox is %s, want %s", got.Reference, got.Status, want)
		}
	}
	for i := range 20 { // one after the other, while the poison works
		w.ended(w.pay(fmt.Sprint("pending-", i), payments.Pending))
		w.ended(w.collect(fmt.Sprint("forward-", i), payments.MTN))
	}
	eventually(t, func() string {
		return read[string](w, `select coalesce(string_agg(state::text, ' '), '') from events where tenant = $1 and state <> 'delivered'`,
			w.sandbox.Tenant)
	})
	eventually(t, func() string {
		if n := read[int](w, "select (select count(*) from stores where tenant = $2) + (select count(*) from events where tenant = $1)", late,
			retired); n > 0 {
			return fmt.Sprintf("%d rows are not removed that are to go", n)
		}
		return ""
	})
	w.followed(tenants)

	for name, p := range all {
		tenant := tenants[name]
		eventually(t, func() string {
			if p.fails != "" && read[int](w, "select count(*) from sweep_failures where tenant = $1 and sweep = $2", tenant, p.fails) == 0 {
				return name + ": nothing tells that " + p.fails + " fails"
			}
			return ""
		})
		if got := read[string](w,
			"select coalesce(string_agg(distinct sweep || ': ' || error, '; '), '') from sweep_failures where tenant = $1 and sweep <> $2", tenant,
			p.fails); got != "" && p.want != "" {
			t.Errorf("%s: also failed: %s", name, got)
		}
		if p.want == "" {
			continue
		}
		eventually(t, func() string {
			got := read[string](w, "select status::text from transactions where tenant = $1 and sim_id is not null and status <> 'PIN_INVALID'",
				tenant)
			if got != p.want {
				return fmt.Sprintf("%s: its payment is %s, want %s", name, got, p.want)
			}
			return ""
		})
	}
	for _, sweep := range []string{"settlement", "delivery", "passthrough", "retention"} {
		if counted(t, registry, "cauri_worker_sandbox_failures_total", sweep) == 0 {
			t.Errorf("no failure of %s is counted", sweep)
		}
		if got := counted(t, registry, "cauri_worker_sweep_failures_total", sweep); got != 0 {
			t.Errorf("%s failed %v times for all", sweep, got)
		}
	}
}

// followed checks what the api and the controller read of all sandboxes.
func (w *fixture) followed(poisoned map[string]int64) {
	w.t.Helper()
	directory := sandboxes.NewDirectory(ledgertest.OpenAs(w.t, w.url, ledgertest.API).DB)
	if err := directory.Refresh(w.t.Context()); err != nil {
		w.t.Errorf("the api cannot read the configuration: %v", err)
	}
	if got := directory.State().Sandboxes; got != len(poisoned)+2 {
		w.t.Errorf("the api knows %d sandboxes, want %d", got, len(poisoned)+2)
	}
	controller := ledgertest.OpenAs(w.t, w.url, ledgertest.Controller)
	eventually(w.t, func() string {
		w.pay(uuid.NewString(), payments.Success)
		if err := w.FlushActivity(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		changes, _, err := controller.ChangedAccounts(w.t.Context(), time.Now().Add(-time.Hour))
		if err != nil {
			w.t.Fatalf("the controller cannot see what changes: %v", err)
		}
		for _, change := range changes {
			if change.Sandbox == w.config.Name && change.TestClient == "" {
				return ""
			}
		}
		return "the healthy sandbox's change is not seen"
	})
	if _, err := controller.Inventory(w.t.Context()); err != nil {
		w.t.Errorf("the controller cannot look for drift: %v", err)
	}
	state, err := controller.ApplySandbox(w.t.Context(), w.config)
	if err != nil || len(state.Failures) != 0 {
		w.t.Errorf("the healthy sandbox: %v, %v", state.Failures, err)
	}
	if _, err := controller.QueueStatistics(w.t.Context()); err == nil {
		w.t.Error("the controller may look at what waits")
	}
	if _, err := ledgertest.OpenAs(w.t, w.url, ledgertest.Worker).QueueStatistics(w.t.Context()); err != nil {
		w.t.Errorf("nobody sees what waits: %v", err)
	}
}

func counted(t *testing.T, registry *prometheus.Registry, name, sweep string) (n float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == name && hasLabel(metric, sweep) {
				n += metric.GetCounter().GetValue()
			}
		}
	}
	return n
}

func hasLabel(metric *dto.Metric, value string) bool {
	for _, label := range metric.GetLabel() {
		if label.GetValue() == value {
			return true
		}
	}
	return false
}

// A sandbox whose settlement failed is settled once what is wrong with it is put right.
func TestSandboxThatWasPoisonedRecovers(t *testing.T) {
	w := newFixture(t, nil)
	id := w.pay("r1", payments.Pending)
	w.exec("insert into events (tenant, id, state) values ($1, $2, 'recorded')", w.sandbox.Tenant, [16]byte(id))
	w.run()
	eventually(t, func() string {
		if read[int](w, "select coalesce(max(failures), 0) from sweep_failures") < 2 {
			return "it has not failed twice"
		}
		return ""
	})
	state, err := w.ApplySandbox(t.Context(), w.config)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Failures) != 1 || state.Failures[0].Sweep != "settlement" || !strings.Contains(state.Failures[0].Error, "events_pkey") {
		t.Errorf("its state tells %+v", state.Failures)
	}
	if pause := read[float64](w, "select extract(epoch from retry_at - now()) from sweep_failures"); pause > 300 {
		t.Errorf("it is left out for %v seconds", pause)
	}
	w.exec("delete from events")
	if got := w.ended(id); got.Status != payments.Success {
		t.Errorf("it is %s", got.Status)
	}
	eventually(t, func() string {
		if read[int](w, "select count(*) from sweep_failures") > 0 {
			return "its failure is not forgotten"
		}
		return ""
	})
}

// gate is a worker's connection to a database, which stands still before it writes a batch down, as if its process were frozen.
type gate struct {
	reached chan struct{}
	open    chan struct{}
	once    sync.Once
}

func (g *gate) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "-- name: SettleTransactions") {
		g.reached <- struct{}{}
		<-g.open
	}
	return ctx
}

func (*gate) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A worker that is frozen in the middle of its work holds a few sandboxes, whatever is due elsewhere.
func TestFrozenWorkerHoldsFewSandboxes(t *testing.T) {
	const sandboxes, atOnce, group = 64, 4, 3
	w := newFixture(t, nil)
	var tenants []int64
	for i := range sandboxes {
		tenants = append(tenants, w.beside(fmt.Sprint("s", i), w.hook.url))
	}
	w.known(tenants...)
	w.copies(w.pay("like", payments.Pending), 5, tenants...)
	g := &gate{reached: make(chan struct{}, 1000), open: make(chan struct{})}
	t.Cleanup(func() { g.once.Do(func() { close(g.open) }) })
	frozen, err := ledgertest.OpenWith(
		ledgertest.URLAs(t, w.url, ledgertest.Worker),
		ledgertest.Options{KeyRing: ledgertest.KeyRing(t), Options: postgres.Options{Tracer: g}},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(frozen.Close)
	w.run(func(o *worker.Options) { o.Database = frozen })
	for range atOnce {
		<-g.reached
	}
	const untouched = `select count(distinct tenant) from (
		select tenant from transactions where status = 'PENDING' and tenant = any($1) for update skip locked) free`
	if held := sandboxes - read[int](w, untouched, tenants); held > atOnce*group {
		t.Errorf("it holds %d of %d sandboxes, want %d at most", held, sandboxes, atOnce*group)
	}
	g.once.Do(func() { close(g.open) })
	eventually(t, func() string {
		if n := read[int](w, "select count(*) from transactions where status = 'PENDING'"); n > 0 {
			return fmt.Sprintf("%d payments are pending after it goes on", n)
		}
		return ""
	})
}

// What holds a sandbox's rows for as long as the test wants holds up no other sandbox: neither a worker that settles it, nor
// somebody else in the middle of a change of its money.
func TestHeldSandboxHoldsUpNoOther(t *testing.T) {
	cases := map[string][]string{
		"by a worker": {"select pg_advisory_xact_lock(hashtextextended('cauri settlement', $1))",
			"select from sims where tenant = $1 for update"},
		"by an answer by hand":    {"select from sims where tenant = $1 for update"},
		"by a change of money":    {"select from floats where tenant = $1 for update"},
		"by one of its resources": {"select from organizations where tenant = $1 for update"},
	}
	for name, statements := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, nil)
			var tenants []int64
			for i := range 12 {
				tenants = append(tenants, w.beside(fmt.Sprint("s", i), w.hook.url))
			}
			held := tenants[:6] // more than are settled at one time
			w.known(tenants...)
			like := w.pay("like", payments.Pending)
			holder, err := w.sql.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = holder.Rollback(context.Background()) }()
			for _, tenant := range held {
				for _, statement := range statements {
					if _, err := holder.Exec(t.Context(), statement, tenant); err != nil {
						t.Fatal(err)
					}
				}
			}
			w.copies(like, 5, tenants...)
			w.run()
			eventually(t, func() string {
				if n := read[int](w, "select count(*) from transactions where status = 'PENDING' and tenant <> all($1)", held); n > 0 {
					return fmt.Sprintf("%d payments of others are pending", n)
				}
				return ""
			})
			if err := holder.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() string {
				if n := read[int](w, "select count(*) from transactions where status = 'PENDING'"); n > 0 {
					return fmt.Sprintf("%d payments are pending after it", n)
				}
				return ""
			})
		})
	}
}
