package worker_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/worker"
)

// operatorFaults are an operator's faults of callbacks. Each applies to the references that begin with its name. comes is
// the number of callbacks, and reason the reason of a failure.
var operatorFaults = []struct {
	name, operator string
	comes          int
	reason         string
}{
	{"drop", `{"callback":{"drop":true}}`, 0, ""},
	{"duplicate", `{"callback":{"duplicate":3}}`, 3, "NOT_ENOUGH_FUNDS"},
	{"overlap", `{"callback":{"duplicate":3,"overlap":true}}`, 3, "NOT_ENOUGH_FUNDS"},
	{"delay", `{"callback":{"delay":"300ms"}}`, 1, "NOT_ENOUGH_FUNDS"},
	{"before-answer", `{"callback":{"beforeAnswer":true}}`, 1, "NOT_ENOUGH_FUNDS"},
	{"reason", `{"reason":"NOT_ALLOWED"}`, 1, "NOT_ALLOWED"},
	{"together", `{"callback":{"delay":"100ms","duplicate":2},"reason":"NOT_ALLOWED","statusStaysPending":"1h"}`, 2, "NOT_ALLOWED"},
	{"pending", `{"statusStaysPending":"1h"}`, 1, "NOT_ENOUGH_FUNDS"},
}

// deadCallback leases the callbacks that are due as a worker does that dies then, and lets the leases end.
func (w *fixture) deadCallback() {
	w.t.Helper()
	grant := queues.SlotGrant{DueTenant: queues.DueTenant{Tenant: w.sandbox.Tenant}, Slots: 1000}
	if _, _, err := w.LeaseDueCallbacks(w.t.Context(), []queues.SlotGrant{grant}, time.Minute, operators.CallbackBody); err != nil {
		w.t.Fatal(err)
	}
	w.exec("update native_callbacks set leased_until = null where leased_until is not null")
}

// callNames are the calls of MTN's own API by the type of what they record.
var callNames = map[payments.Type][]string{
	payments.Collection: {"requesttopay", "requesttowithdraw"}, payments.Disbursement: {"transfer", "deposit"}, payments.Refund: {"refund"},
}

// ownCalls records a transaction by each call of MTN's own API, in each version, once with success and once without money, with callbacks
// to a URL below which their references stand. It returns the ids by reference.
func (w *fixture) ownCalls(name, url string) map[string]payments.ID {
	w.t.Helper()
	made := map[string]payments.ID{}
	for kind, calls := range callNames {
		for _, call := range calls {
			for _, second := range []bool{false, true} {
				for status, reference := range map[payments.Status]string{
					payments.Success:           fmt.Sprintf("%s-%s-%t", name, call, second),
					payments.InsufficientFunds: fmt.Sprintf("%s-%s-%t-poor", name, call, second),
				} {
					if kind == payments.Refund && status != payments.Success {
						continue // what a collection does not have is refused at once
					}
					made[reference] = w.ownCall(kind, status, reference, &ledger.NativeRequest{
						Operation: call, Callbacks: callsTo(url + "/" + reference), Sent: fmt.Appendf(nil, `{"currency":"RWF","externalId":%q,
							"party":{"partyIdType":"MSISDN","partyId":"250788000001"},"second":%t}`, reference, second),
					})
				}
			}
		}
	}
	return made
}

func (w *fixture) ownCall(kind payments.Type, status payments.Status, reference string, n *ledger.NativeRequest) payments.ID {
	w.t.Helper()
	hash, optional := ledger.NativeHash(n.Operation), ledger.OptionalFields{Native: n}
	switch kind {
	case payments.Collection:
		id, err := w.tryToPay(reference, status, func(c *ledger.NewCollection) { c.RequestHash, c.Optional = hash, optional })
		if err != nil {
			w.t.Fatal(err)
		}
		return id
	case payments.Refund:
		parent := w.pay(reference+"-parent", payments.Success)
		r := ledger.NewRefund{
			ID: w.newID(), ParentID: parent, Details: payments.Details{Reference: reference}, RequestHash: hash,
			Amount: new(int64(400)), Optional: optional,
		}
		if _, _, err := w.CreateRefund(w.t.Context(), w.sandbox.Tenant, r); err != nil {
			w.t.Fatal(err)
		}
		return r.ID
	}
	d := &ledger.NewDisbursement{Transaction: payments.Transaction{
		Details: payments.Details{Reference: reference, Currency: "RWF", MSISDN: alice}, ID: w.newID(),
		Type: kind, Status: status, OrderRef: reference, Store: "shop", EnvironmentID: "env_1",
		Operator: payments.MTN, Country: payments.Rwanda, Amount: 100, NetAmount: 100,
	}}
	if status != payments.Success {
		d.Transaction.Amount, d.Transaction.NetAmount = 1_000_000_000_000, 1_000_000_000_000
	}
	d.RequestHash, d.ConfigVersion, d.Optional = hash, w.sandbox.ConfigVersion, optional
	if err := w.CreateDisbursement(w.t.Context(), w.sandbox.Tenant, d); err != nil {
		w.t.Fatal(err)
	}
	return d.Transaction.ID
}

// Every fault of an operator changes the callback of every call that moves money as it says, and changes nothing else, whatever happens to
// the workers between the decision and the attempt.
func TestOperatorFaultsApplyToEveryCallback(t *testing.T) {
	for name, meanwhile := range map[string]func(w *fixture){
		"nothing else":        func(*fixture) {},
		"a worker dies twice": func(w *fixture) { w.deadCallback(); w.deadCallback() },
		"suspended and resumed": func(w *fixture) {
			w.deadCallback()
			w.config.Suspended = true
			w.apply()
			w.config.Suspended = false
			w.apply()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, nil)
			var entries []string
			for _, f := range operatorFaults {
				entries = append(entries, fmt.Sprintf(`{"name":%q,"when":{"reference":"%s-*"},"operator":%s}`, f.name, f.name, f.operator))
			}
			w.config.CallbackHosts = []string{"127.0.0.1"}
			w.declare(entries...)
			hook := newCallbackReceiver(t, http.StatusOK)
			made := map[string]map[string]payments.ID{}
			for _, f := range operatorFaults {
				made[f.name] = w.ownCalls(f.name, hook.URL)
			}
			meanwhile(w)
			metrics := prometheus.NewRegistry()
			stop := w.run(func(o *worker.Options) { o.Metrics = telemetry.NewWorker(metrics) })
			eventually(t, func() string {
				if n := read[int](w, "select count(*)::int from native_callbacks where state = 'queued'"); n > 0 {
					return fmt.Sprintf("%d callbacks are not sent", n)
				}
				return ""
			})
			stop()
			w.checkCallbacks(hook, made)
			acted := read[int](w, "select count(*)::int from native_callbacks where fault is not null")
			if counted := countedFaults(t, metrics, faults.OperatorKind); counted != float64(acted) {
				t.Errorf("cauri_faults_total is %v, and %d callbacks have a fault", counted, acted)
			}
		})
	}
}

// checkCallbacks compares what came, and what is written down, with what the faults say.
func (w *fixture) checkCallbacks(hook *callbackReceiver, made map[string]map[string]payments.ID) {
	w.t.Helper()
	came := map[string][]string{}
	for _, one := range hook.all() {
		path := strings.Fields(one)[1]
		came[path[1:]] = append(came[path[1:]], one)
	}
	for _, f := range operatorFaults {
		acts := 0
		for reference, id := range made[f.name] {
			failed := strings.HasSuffix(reference, "-poor")
			faulted := f.name != "pending" && (f.name != "reason" || failed)
			if faulted {
				acts++
			}
			if len(came[reference]) != f.comes {
				w.t.Errorf("%s: it came %d times, want %d", reference, len(came[reference]), f.comes)
			}
			for _, one := range came[reference] {
				if want := `"reason":"` + f.reason + `"`; strings.Contains(one, want) != failed {
					w.t.Errorf("%s: it came as %s, want %s: %t", reference, one, want, failed)
				}
				if put := strings.HasPrefix(one, "PUT "); put != strings.Contains(reference, "-true") {
					w.t.Errorf("%s: it came as %s", reference, one)
				}
			}
			w.checkOutcome(reference, id, failed, f.name, faulted)
		}
		if counted := read[int](w, "select coalesce(max(acts), 0)::int from fault_counts where name = $1", f.name); counted != acts {
			w.t.Errorf("%s acted %d times by its count, want %d", f.name, counted, acts)
		}
	}
	(&ledgertest.Fixture{Store: w.Store, T: w.t, SQL: w.sql}).Conserved()
}

// checkOutcome checks that a transaction is as if there were no faults, and names the fault that applied.
func (w *fixture) checkOutcome(reference string, id payments.ID, failed bool, fault string, faulted bool) {
	w.t.Helper()
	transaction, err := w.GetTransaction(w.t.Context(), w.sandbox.Tenant, id)
	if err != nil {
		w.t.Fatal(err)
	}
	status, named := payments.Success, ""
	if failed {
		status = payments.InsufficientFunds
	}
	if faulted {
		named = fault
	}
	if transaction.Status != status || strings.Join(transaction.Faults, " ") != named {
		w.t.Errorf("%s: it is %s with the faults %q, want %s with %q", reference, transaction.Status, transaction.Faults, status, named)
	}
	want := map[bool]string{true: "failed 1 fault drop: not sent", false: "delivered 1 -"}[fault == "drop"] + " " + named
	got := read[string](w, `select concat_ws(' ', n.state, n.attempts, coalesce(n.last_error, '-'), coalesce(array_to_string(a.faults, ' '), ''))
		from native_callbacks n join callback_attempts a using (tenant, id) where n.id = $1`, postgres.UUID(id))
	if got != want {
		w.t.Errorf("%s: its callback is %q, want %q", reference, got, want)
	}
	kept, err := w.GetCallback(w.t.Context(), w.sandbox.Tenant, id, nil) // it was taken, so its body is kept
	if err != nil || strings.Contains(string(kept.Body), `"reason":"NOT_ENOUGH_FUNDS"`) != failed {
		w.t.Errorf("%s: its callback is kept as %s, %v", reference, kept.Body, err)
	}
}

// A callback that a fault lost is sent by hand without it.
func TestALostCallbackIsSentByHand(t *testing.T) {
	w := newFixture(t, nil)
	hook := newCallbackReceiver(t, http.StatusOK)
	w.config.CallbackHosts = []string{"127.0.0.1"}
	w.declare(`{"name":"silent","operator":{"callback":{"drop":true}}}`)
	id := w.askedOfAlice("paid", payments.Success, 0, hook.URL+"/paid")
	w.run()
	w.callbacks(ledger.EventFailed, 1)
	if _, err := w.ResendCallback(t.Context(), w.sandbox.Tenant, id); err != nil {
		t.Fatal(err)
	}
	w.callbacks(ledger.EventDelivered, 1)
	if came := hook.all(); len(came) != 1 {
		t.Errorf("these came: %q", came)
	}
}

// A delay is in sandbox time: an advance passes it, and the callback comes on the way.
func TestADelayedCallbackComesByTheClock(t *testing.T) {
	w := newFixture(t, nil)
	hook := newCallbackReceiver(t, http.StatusOK)
	w.config.CallbackHosts = []string{"127.0.0.1"}
	w.declare(`{"name":"late","operator":{"callback":{"delay":"1h","duplicate":2}}}`)
	id := w.askedOfAlice("paid", payments.Success, 0, hook.URL+"/paid")
	w.run()
	first := w.advanced(w.advance(59 * time.Minute))
	if first.Ended == nil || len(hook.all()) != 0 {
		t.Errorf("after 59 minutes the advance ended as %+v, and these came: %q", first.Ended, hook.all())
	}
	if second := w.advanced(w.advance(2 * time.Minute)); second.Ended == nil || len(hook.all()) != 2 {
		t.Errorf("after 61 minutes the advance ended as %+v, and these came: %q", second.Ended, hook.all())
	}
	late := read[time.Duration](w, "select n.delivered_at - t.created_at from native_callbacks n join transactions t using (tenant, id) where t.id = $1",
		postgres.UUID(id))
	if late < time.Hour || late > 61*time.Minute {
		t.Errorf("it came %s after its request", late)
	}
}

// A fault that is taken back while a callback waits does not act on it any more.
func TestAFaultThatIsTakenBackAppliesToNoCallback(t *testing.T) {
	w := newFixture(t, nil)
	hook := newCallbackReceiver(t, http.StatusOK)
	w.config.CallbackHosts = []string{"127.0.0.1"}
	w.declare(`{"name":"silent","operator":{"callback":{"drop":true}}}`)
	w.askedOfAlice("paid", payments.Success, 0, hook.URL+"/paid")
	w.deadCallback()
	w.config.Faults = nil
	w.apply()
	w.run()
	w.callbacks(ledger.EventDelivered, 1)
	if came := hook.all(); len(came) != 1 {
		t.Errorf("these came: %q", came)
	}
}
