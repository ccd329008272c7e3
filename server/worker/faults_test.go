package worker_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

// webhookFaults are the faults of webhooks, each acting on the first attempt of the events whose reference begins with its name: what a
// careful receiver sees of an event until it has acknowledged it, and the attempts that are written down with the faults of each. The one
// that waits for the next event is the first, so that there is one.
var webhookFaults = []struct{ name, webhook, seen, attempts string }{
	{"outOfOrder", `{"outOfOrder":true}`, "good", "204 {outOfOrder}"},
	{"drop", `{"drop":true}`, "good", "fault drop: not sent {drop}, 204 -"},
	{"duplicate", `{"duplicate":3,"spacing":"20ms"}`, "good good good", "204 {duplicate}"},
	{"overlap", `{"duplicate":3,"overlap":true}`, "good good good", "204 {overlap}"},
	{"delay", `{"delay":"300ms"}`, "good", "204 {delay}"},
	{"beforeAnswer", `{"beforeAnswer":true}`, "good", "204 {beforeAnswer}"},
	{"badSignature", `{"badSignature":true}`, "forged good", "401 {badSignature}, 204 -"},
	{"staleTimestamp", `{"staleTimestamp":"10m"}`, "stale good", "401 {staleTimestamp}, 204 -"},
	{"truncate", `{"truncate":true}`, "forged good", "401 {truncate}, 204 -"},
	{"contentType", `{"contentType":"text/plain"}`, "text good", "415 {contentType}, 204 -"},
	{"unknownField", `{"unknownField":true}`, "new-field", "204 {unknownField}"},
	{"unknownEvent", `{"unknownEvent":true}`, "new-event", "204 {unknownEvent}"},
	{"together", `{"delay":"100ms","duplicate":2,"unknownField":true}`, "new-field new-field", "204 {together}"},
}

// carefulReceiver refuses what it should, and keeps what it saw of each event.
type carefulReceiver struct {
	mu   sync.Mutex
	seen map[string][]string
}

func (r *carefulReceiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	what, status := look(request.Header, body)
	r.mu.Lock()
	defer r.mu.Unlock()
	id := request.Header.Get(webhooks.HeaderDelivery)
	r.seen[id] = append(r.seen[id], what)
	w.WriteHeader(status)
}

func look(h http.Header, body []byte) (what string, status int) {
	switch err := webhooks.Verify(h, body, secret, time.Now()); {
	case err == webhooks.ErrBadTimestamp:
		return "stale", http.StatusUnauthorized
	case err != nil:
		return "forged", http.StatusUnauthorized
	case h.Get("Content-Type") != "application/json":
		return "text", http.StatusUnsupportedMediaType
	case !json.Valid(body):
		return "broken", http.StatusBadRequest
	case bytes.Contains(body, []byte(webhooks.UnknownField)):
		return "new-field", http.StatusNoContent
	case h.Get(webhooks.HeaderEvent) == webhooks.UnknownEvent:
		return "new-event", http.StatusNoContent
	}
	return "good", http.StatusNoContent
}

// declare gives the sandbox faults, as JSON, and a careful receiver.
func (w *fixture) declare(entries ...string) *carefulReceiver {
	w.t.Helper()
	r := &carefulReceiver{seen: map[string][]string{}}
	server := httptest.NewServer(r)
	w.t.Cleanup(server.Close)
	w.config.Webhook.URL = server.URL
	w.config.Faults = []byte("[" + strings.Join(entries, ",") + "]")
	w.apply()
	return r
}

// apply applies the sandbox as it is configured now.
func (w *fixture) apply() {
	w.t.Helper()
	if _, err := w.ApplySandbox(w.t.Context(), w.config); err != nil {
		w.t.Fatal(err)
	}
	w.reload()
}

// oneOfEach makes a collection, a refund of it and a disbursement, and returns their ids.
func (w *fixture) oneOfEach(name string) (ids []payments.ID) {
	w.t.Helper()
	collection := w.pay(name+"-collection", payments.Success)
	refund := ledger.NewRefund{
		ID: w.newID(), ParentID: collection, Details: payments.Details{Reference: name + "-refund"}, RequestHash: []byte(name), Amount: new(int64(400)),
	}
	if _, _, err := w.CreateRefund(w.t.Context(), w.sandbox.Tenant, refund); err != nil {
		w.t.Fatal(err)
	}
	disbursement := &ledger.NewDisbursement{Transaction: payments.Transaction{
		Details: payments.Details{Reference: name + "-disbursement", Currency: "RWF", MSISDN: alice},
		ID:      w.newID(), Type: payments.Disbursement, Status: payments.Success, OrderRef: name, Store: "shop",
		EnvironmentID: "env_1", Operator: payments.MTN, Country: payments.Rwanda, Amount: 100, NetAmount: 100,
	}}
	disbursement.RequestHash, disbursement.ConfigVersion = []byte(name), w.sandbox.ConfigVersion
	if err := w.CreateDisbursement(w.t.Context(), w.sandbox.Tenant, disbursement); err != nil {
		w.t.Fatal(err)
	}
	return []payments.ID{collection, refund.ID, disbursement.Transaction.ID}
}

func (w *fixture) newID() payments.ID {
	w.t.Helper()
	id, err := payments.NewID(time.Now(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func storedBody(organizationID string, t *payments.Transaction) ([]byte, error) {
	return webhooks.Body(organizationID, t, nil)
}

// dead leases what is due as a worker does that dies then, and lets the leases end.
func (w *fixture) dead() {
	w.t.Helper()
	due, err := w.TenantsToDeliver(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var grants []queues.SlotGrant
	for _, one := range due {
		grants = append(grants, queues.SlotGrant{DueTenant: one, Slots: 100})
	}
	if _, _, err := w.LeaseDueEvents(w.t.Context(), grants, time.Minute, storedBody); err != nil {
		w.t.Fatal(err)
	}
	w.exec("update events set due_at = created_at, leased_until = null where leased") // in their order
}

// Every fault of webhooks changes every kind of event as it says, and changes nothing else, whatever happens to the sandbox and its
// workers between the decision and the attempt.
func TestWebhookFaultsApplyToEveryKindOfEvent(t *testing.T) {
	for name, meanwhile := range map[string]func(w *fixture){
		"nothing else":  func(*fixture) {},
		"a worker dies": func(w *fixture) { w.dead(); w.dead() },
		"suspended and resumed": func(w *fixture) {
			w.dead()
			w.config.Suspended = true
			w.apply()
			if due, err := w.TenantsToDeliver(w.t.Context()); len(due) > 0 || err != nil {
				w.t.Errorf("%d sandboxes have something due while it is suspended: %v", len(due), err)
			}
			w.config.Suspended = false
			w.apply()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, nil)
			r := w.declare(entriesOf()...)
			made := w.makeAll()
			meanwhile(w)
			w.checkAll(r, made)
		})
	}
	t.Run("reset", func(t *testing.T) {
		w := newFixture(t, nil)
		r := w.declare(entriesOf()...)
		former := w.makeAll()
		w.dead()
		w.config.Reset = "again"
		w.apply()
		w.checkAll(r, w.makeAll())
		for _, ids := range former {
			for _, id := range ids {
				if seen := r.seen[webhooks.EventID(id)]; seen != nil {
					t.Errorf("an event of the former sandbox was sent: %v", seen)
				}
			}
		}
	})
}

func entriesOf() (entries []string) {
	for _, f := range webhookFaults {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"when":{"reference":"%s-*","attempt":1},"webhook":%s}`, f.name, f.name, f.webhook))
	}
	return entries
}

// makeAll makes one of each kind of event for each fault.
func (w *fixture) makeAll() map[string][]payments.ID {
	made := map[string][]payments.ID{}
	for _, f := range webhookFaults {
		made[f.name] = w.oneOfEach(f.name)
	}
	return made
}

// checkAll runs a worker until all is delivered, and compares what was seen and written down with what the faults say.
func (w *fixture) checkAll(r *carefulReceiver, made map[string][]payments.ID) {
	w.t.Helper()
	metrics := prometheus.NewRegistry()
	stop := w.run(func(o *worker.Options) { o.Metrics = telemetry.NewWorker(metrics) })
	eventually(w.t, func() string {
		if n := read[int](w, "select count(*)::int from events where tenant = $1 and state <> 'delivered'", w.sandbox.Tenant); n > 0 {
			return fmt.Sprintf("%d events are not delivered", n)
		}
		return ""
	})
	stop()
	for _, f := range webhookFaults {
		acts := 0
		for i, id := range made[f.name] {
			what := f.name + " of a " + string(payments.Types[i])
			want := f.attempts
			if faulted := f.name != "outOfOrder" || i == 0; faulted { // the others are sent before the one that waits
				acts++
			} else {
				want = "204 -"
			}
			if got := strings.Join(r.seen[webhooks.EventID(id)], " "); got != f.seen {
				w.t.Errorf("%s: the receiver saw %q, want %q", what, got, f.seen)
			}
			got := read[[]string](w, `select array_agg(coalesce(response_status::text, error) || ' ' || coalesce(faults::text, '-') order by attempt)
				from delivery_attempts where tenant = $1 and event_id = $2`, w.sandbox.Tenant, postgres.UUID(id))
			if joined := strings.Join(got, ", "); joined != want {
				w.t.Errorf("%s: attempts %q, want %q", what, joined, want)
			}
			w.checkTruth(what, id)
		}
		counted := read[int](w, "select acts::int from fault_counts where tenant = $1 and name = $2", w.sandbox.Tenant, f.name)
		if counted != acts {
			w.t.Errorf("%s acted %d times by its count, want %d", f.name, counted, acts)
		}
	}
	if n := read[int](w, "select count(*)::int from event_faults where tenant = $1", w.sandbox.Tenant); n != 0 {
		w.t.Errorf("%d decisions are left", n)
	}
	(&ledgertest.Fixture{Store: w.Store, T: w.t, SQL: w.sql}).Conserved()
	acted := read[int](w, "select count(*)::int from delivery_attempts where tenant = $1 and faults is not null", w.sandbox.Tenant)
	if counted := countedFaults(w.t, metrics, faults.WebhookKind); counted != float64(acted) {
		w.t.Errorf("cauri_faults_total is %v, and %d attempts have a fault", counted, acted)
	}
}

// countedFaults is how many acts of a kind a worker counted.
func countedFaults(t *testing.T, registry *prometheus.Registry, kind faults.Kind) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "cauri_faults_total" && m.GetLabel()[0].GetValue() == string(kind) {
				return m.GetCounter().GetValue()
			}
		}
	}
	return -1
}

// checkTruth looks that the transaction, and the event as the sandbox sees it, are as if there were no faults.
func (w *fixture) checkTruth(what string, id payments.ID) {
	w.t.Helper()
	transaction, err := w.GetTransaction(w.t.Context(), w.sandbox.Tenant, id)
	if err != nil || transaction.Status != payments.Success {
		w.t.Fatalf("%s: %+v, %v", what, transaction, err)
	}
	event, err := w.GetEvent(w.t.Context(), w.sandbox.Tenant, w.sandbox.OrganizationID, id, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if event.State != ledger.EventDelivered || bytes.Contains(event.Body, []byte(webhooks.UnknownField)) {
		w.t.Errorf("%s: the event is %s: %s", what, event.State, event.Body)
	}
	faults := read[[2]string](w, `select array[coalesce(t.faults::text, '-'), coalesce((select max(a.faults::text) from delivery_attempts a
		where a.tenant = t.tenant and a.event_id = t.id), '-')] from transactions t where t.tenant = $1 and t.id = $2`,
		w.sandbox.Tenant, postgres.UUID(id))
	if faults[0] != faults[1] {
		w.t.Errorf("%s: the transaction lists %s, its attempts %s", what, faults[0], faults[1])
	}
}

// A fault without a number of attempts loses them all. Whoever has it sent by hand gets it.
func TestEventOfWhichAllAttemptsAreLostFails(t *testing.T) {
	w := newFixture(t, nil)
	r := w.declare(`{"name":"silent","webhook":{"drop":true}}`)
	id := w.pay("r1", payments.Success)
	stop := w.run()
	w.until(ledger.EventFailed, 1)
	if got := read[string](w, "select count(*) || ' ' || min(error) || ' ' || max(error) from delivery_attempts"); got != "4 fault silent: not sent fault silent: not sent" {
		t.Errorf("attempts: %s", got)
	}
	if got := read[string](w, "select failures || ' ' || failed || ' ' || (last_failure is null) from endpoint_health"); got != "0 1 true" {
		t.Errorf("health of the endpoint: %s", got)
	}
	if _, err := w.ResendEvent(t.Context(), w.sandbox.Tenant, id); err != nil {
		t.Fatal(err)
	}
	w.until(ledger.EventDelivered, 1)
	stop()
	if seen := r.seen[webhooks.EventID(id)]; len(seen) != 1 || seen[0] != "good" {
		t.Errorf("the receiver saw %v", seen)
	}
}

func TestSeedDrawsTheJitterOfRetries(t *testing.T) {
	w := newFixture(t, failing)
	w.config.Seed = new(int64(7))
	w.config.Webhook.Retry = sandboxes.RetryPolicy{MaxRetries: 1, InitialDelay: 100 * time.Hour, Factor: 1, MaxDelay: 200 * time.Hour}
	w.apply()
	w.pay("order-1", payments.Success)
	w.run() // by chance there would be no jitter
	eventually(t, func() string {
		if read[int](w, "select attempts from events") != 1 {
			return "no attempt was written down"
		}
		return ""
	})
	drawn := faults.DrawsOf(w.config.Seed, 0).Float("retry after attempt 1", "order-1")
	want := 100*time.Hour + time.Duration((2*drawn-1)*float64(10*time.Hour))
	got := time.Duration(read[float64](w, `select extract(epoch from e.due_at - a.started_at)::float8 * 1e9
		from events e join delivery_attempts a on a.event_id = e.id`))
	if late := got - want; late < 0 || late > 10*time.Minute {
		t.Errorf("the retry follows after %s, want %s", got, want)
	}
	if (want - 100*time.Hour).Abs() < 20*time.Minute {
		t.Fatal("the draw looks like no jitter: take another reference")
	}
}
