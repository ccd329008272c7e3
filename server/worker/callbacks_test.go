package worker_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/worker"
)

// callbackReceiver keeps the callbacks that come.
type callbackReceiver struct {
	*httptest.Server
	mu   sync.Mutex
	came []string
}

func newCallbackReceiver(t *testing.T, status int) *callbackReceiver {
	r := &callbackReceiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.came = append(r.came, fmt.Sprintf("%s %s %q %s", request.Method, request.URL.Path, request.Header.Get("Content-Type"), body))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "thanks")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *callbackReceiver) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.came...)
}

// asked records a pending collection of MTN's own API that asks for a callback, which settles at once.
func (w *fixture) asked(reference, url, sent string) payments.ID {
	w.t.Helper()
	return w.collect(reference, payments.MTN, func(n *ledger.NewCollection) {
		n.RequestHash = ledger.NativeHash("requesttopay")
		n.Optional.Native = &ledger.NativeRequest{Operation: "requesttopay", Sent: []byte(sent), Callbacks: callsTo(url)}
	})
}

// callsTo is the plan of one callback to a URL; of none, if it is empty.
func callsTo(url string) []payments.PlannedCallback {
	if url == "" {
		return nil
	}
	return []payments.PlannedCallback{{URL: url}}
}

// callbacks waits until so many callbacks are in a state.
func (w *fixture) callbacks(state ledger.EventState, n int) {
	w.t.Helper()
	var found int
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err := w.sql.QueryRow(w.t.Context(), "select count(*) from native_callbacks where state = $1", state).Scan(&found); err != nil {
			w.t.Fatal(err)
		}
		if found == n {
			return
		}
	}
	w.t.Fatalf("%d callbacks are %s, want %d", found, state, n)
}

// The callback of an operator is sent once, in the operator's form, whatever its receiver answers.
func TestCallbacksOfOperators(t *testing.T) {
	w := newFixture(t, nil)
	w.config.CallbackHosts = []string{"*"}
	w.configure()
	good, bad := newCallbackReceiver(t, http.StatusOK), newCallbackReceiver(t, http.StatusInternalServerError)
	const sent = `{"currency":"EUR","externalId":"order-1042","party":{"partyIdType":"MSISDN","partyId":"250788000001"},"payerMessage":"m","payeeNote":"n"%s}`
	first, second := fmt.Sprintf(sent, ""), fmt.Sprintf(sent, `,"second":true`)
	w.asked("one", good.URL+"/one", first)
	w.asked("two", good.URL+"/two", second)
	w.asked("three", bad.URL+"/three", first)
	w.asked("four", "", first)
	w.asked("five", "http://169.254.169.254/latest", first)
	metrics := prometheus.NewRegistry()
	stop := w.run(func(o *worker.Options) { o.Metrics = telemetry.NewWorker(metrics) })
	w.callbacks(ledger.EventDelivered, 2)
	w.callbacks(ledger.EventFailed, 2)
	stop()
	for result, want := range map[string]float64{telemetry.DeliveryAcknowledged: 2, telemetry.DeliveryFailed: 2, telemetry.DeliveryLost: 0} {
		if got := counted(t, metrics, "cauri_worker_callbacks_total", result); got != want {
			t.Errorf("%v callbacks are counted as %s, want %v", got, result, want)
		}
	}
	for _, reason := range []string{"answered_5xx", "forbidden"} {
		if got := counted(t, metrics, "cauri_worker_callback_failures_total", reason); got != 1 {
			t.Errorf("%v callbacks are counted as %s, want 1", got, reason)
		}
	}
	came := append(good.all(), bad.all()...)
	if len(came) != 3 {
		t.Fatalf("these came: %q", came)
	}
	for _, one := range came {
		var method, path, kind, body string
		if _, err := fmt.Sscanf(one, "%s %s %q %s", &method, &path, &kind, &body); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"/one": "POST", "/two": "PUT", "/three": "POST"}[path]
		if method != want || kind != "application/json; charset=utf-8" {
			t.Errorf("it came as %s, want a %s", one, want)
		}
	}

	// What came of each is kept, and the bytes that were sent.
	kept := map[string]string{
		"/one": `{"financialTransa 200 thanks `, "/two": `{"financialTransa 200 thanks `,
		"/three":  `{"financialTransa 500 thanks the receiver answered 500`,
		"/latest": `{"financialTransa 0  events may not be sent to 169.254.169.254: it is link-local, where metadata services are`,
	}
	for path, want := range kept {
		got := read[string](w, `select concat_ws(' ', substr(convert_from(n.body, 'UTF8'), 1, 17), coalesce(a.response_status, 0),
			coalesce(convert_from(a.response_body, 'UTF8'), ''), coalesce(a.error, ''))
			from native_callbacks n join callback_attempts a using (tenant, id) where n.url like '%' || $1 and a.attempt = 1 and n.attempts = 1`, path)
		if got != want {
			t.Errorf("of %s is kept: %s, want %s", path, got, want)
		}
	}

	// A worker that died during one leaves it to another, when its lease ends.
	w.exec("update native_callbacks set state = 'queued', due_at = now(), fence = fence + 1, leased_until = now() + interval '1 hour' where url like '%/one'")
	defer w.run()()
	w.asked("six", good.URL+"/six", first)
	w.callbacks(ledger.EventDelivered, 2)
	w.exec("update native_callbacks set leased_until = now() where state = 'queued'")
	w.callbacks(ledger.EventDelivered, 3)
	if came := good.all(); len(came) != 4 {
		t.Errorf("these came: %q", came)
	}
}

// Where a sandbox does not allow a host any more, nothing is sent there.
func TestCallbacksAreNotSentWhereTheSandboxForbidsIt(t *testing.T) {
	w := newFixture(t, nil)
	w.configure()
	hook := newCallbackReceiver(t, http.StatusOK)
	w.asked("one", hook.URL+"/one", `{}`)
	w.config.CallbackHosts = []string{"*.shop.example"}
	w.configure()
	defer w.run()()
	w.callbacks(ledger.EventFailed, 1)
	if came := hook.all(); len(came) != 0 {
		t.Errorf("these came: %q", came)
	}
	if reason := ledgertest.Read[string](&ledgertest.Fixture{T: t, SQL: w.sql}, "select last_error from native_callbacks"); reason == "" {
		t.Error("nothing says why")
	}
}

// askedOfAlice records a collection of MTN's own API that asks for a callback. Alice ignores it if it is pending.
func (w *fixture) askedOfAlice(reference string, status payments.Status, latency time.Duration, url string) payments.ID {
	w.t.Helper()
	id, err := w.tryToPay(reference, status, func(n *ledger.NewCollection) {
		n.Transaction.Latency, n.RequestHash = latency, ledger.NativeHash("requesttopay")
		n.Optional.Native = &ledger.NativeRequest{
			Operation: "requesttopay", Callbacks: callsTo(url), LatencyPercent: 100,
			Sent: []byte(`{"currency":"RWF","externalId":"order-1042","party":{"partyIdType":"MSISDN","partyId":"250788000001"}}`),
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// When an advance has answered, the callbacks that were due on the way have come, each at its time.
func TestAdvanceSendsCallbacks(t *testing.T) {
	w := newFixture(t, nil)
	w.config.Webhook, w.config.CallbackHosts = nil, []string{"127.0.0.1"} // callbacks need no webhook
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	w.reload()
	w.alices(payments.Ignore, 1_000_000)
	good, bad := newCallbackReceiver(t, http.StatusOK), newCallbackReceiver(t, http.StatusInternalServerError)
	paid := w.askedOfAlice("paid", payments.Success, 10*time.Minute, good.URL+"/paid")
	token := nativestore.Token{Hash: sandboxes.KeyHash{7}, Operator: payments.MTN, Product: "collection", Lifetime: time.Hour}
	if err := w.AddNativeToken(t.Context(), w.sandbox.Tenant, token, false); err != nil {
		t.Fatal(err)
	}
	created := read[time.Time](w, "select created_at from transactions where id = $1", paid[:])
	if clock, err := w.Clock(t.Context(), w.sandbox.Tenant); err != nil || clock.DueEvents != 0 || clock.NextDueAt == nil ||
		!clock.NextDueAt.Equal(created.Add(10*time.Minute)) {
		t.Errorf("the clock is %+v, %v; want the callback of the payment of %s next", clock, err, created)
	}
	expires := w.askedOfAlice("expires", payments.Pending, 0, good.URL+"/expires")
	w.askedOfAlice("refused", payments.Pending, 0, bad.URL+"/refused")
	w.run()
	first := w.advanced(w.advance(30 * time.Minute))
	if first.Ended == nil || *first.Ended != (clocks.AdvanceCounts{Delivered: 1}) || len(good.all()) != 1 {
		t.Errorf("the advance ended as %+v, and these came: %q", first.Ended, good.all())
	}
	if _, err := w.FindNativeToken(t.Context(), w.sandbox.Tenant, payments.MTN, token.Hash); err != nil {
		t.Errorf("after 30 minutes the token is not valid: %v", err)
	}
	second := w.advanced(w.advance(time.Hour))
	if second.Ended == nil || *second.Ended != (clocks.AdvanceCounts{Expired: 2, Delivered: 1, FailedAttempts: 1}) {
		t.Errorf("the advance ended as %+v", second.Ended)
	}
	if len(good.all()) != 2 || len(bad.all()) != 1 {
		t.Errorf("these came: %q, and these were refused: %q", good.all(), bad.all())
	}
	if _, err := w.FindNativeToken(t.Context(), w.sandbox.Tenant, payments.MTN, token.Hash); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("after 90 minutes the token is valid: %v", err)
	}
	for id, want := range map[payments.ID]time.Duration{expires: time.Hour, paid: 10 * time.Minute} {
		late := read[time.Duration](w, `select n.delivered_at - t.created_at from native_callbacks n join transactions t using (tenant, id)
			where t.id = $1`, id[:])
		if late != want {
			t.Errorf("a callback was received %s after its request, want %s", late, want)
		}
	}
}

// A callback that is due already counts as due, until it is sent. While another worker sends it, the clock waits.
func TestAdvanceWaitsForACallbackInHand(t *testing.T) {
	w := newFixture(t, nil)
	hook := newCallbackReceiver(t, http.StatusOK)
	w.config.Webhook, w.config.CallbackHosts = nil, []string{"127.0.0.1"}
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	w.reload()
	w.askedOfAlice("paid", payments.Success, 0, hook.URL+"/paid")
	if clock, err := w.Clock(t.Context(), w.sandbox.Tenant); err != nil || clock.DueEvents != 1 {
		t.Errorf("the clock is %+v, %v; want one callback due", clock, err)
	}
	other := ledgertest.OpenAs(t, w.url, ledgertest.Worker)
	grant := queues.SlotGrant{DueTenant: queues.DueTenant{Tenant: w.sandbox.Tenant}, Slots: 1}
	leased, _, err := other.LeaseDueCallbacks(t.Context(), []queues.SlotGrant{grant}, time.Hour, operators.CallbackBody)
	if err != nil || len(leased) != 1 {
		t.Fatalf("leased %d callbacks, %v", len(leased), err)
	}
	a := w.advance(time.Hour)
	lease, err := other.LeaseClock(t.Context(), w.sandbox.Tenant, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	view, err := other.ViewClock(t.Context(), lease, lease.Now, lease.Now)
	if due := view.RecordedByArrival; err != nil || !due.Held || due.At() != nil {
		t.Errorf("the clock's holder sees %+v, %v; want that the callback is held", view, err)
	}
	if kept, err := other.FinishCallback(t.Context(), &leased[0], ledger.AttemptResult{State: ledger.EventDelivered}); err != nil || !kept {
		t.Errorf("its sender lost it: %v", err)
	}
	if err := other.ReleaseClock(t.Context(), lease, clocks.AdvanceCounts{}); err != nil {
		t.Fatal(err)
	}
	w.run()
	if state := w.advanced(a); state.Ended == nil || *state.Ended != (clocks.AdvanceCounts{}) || len(hook.all()) != 0 {
		t.Errorf("the advance ended as %+v, and these came: %q", state.Ended, hook.all())
	}
}
