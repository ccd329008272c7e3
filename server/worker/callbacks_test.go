package worker_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
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
		n.Additions.Native = &ledger.NativeRequest{Operation: "requesttopay", Sent: []byte(sent), CallbackURL: url}
	})
}

// callbacks waits until so many callbacks are in a state.
func (w *fixture) callbacks(state ledger.EventState, n int) {
	w.t.Helper()
	var found int
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err := w.sql.QueryRow(w.t.Context(), "select count(*) from native_requests where state = $1", state).Scan(&found); err != nil {
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

	// A worker that died during one leaves it to another, when its lease ends.
	w.exec("update native_requests set state = 'queued', due_at = now(), fence = fence + 1, leased_until = now() + interval '1 hour' where callback_url like '%/one'")
	defer w.run()()
	w.asked("six", good.URL+"/six", first)
	w.callbacks(ledger.EventDelivered, 2)
	w.exec("update native_requests set leased_until = now() where state = 'queued'")
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
	if why := ledgertest.Read[string](&ledgertest.Fixture{T: t, SQL: w.sql}, "select last_error from native_requests"); why == "" {
		t.Error("nothing says why")
	}
}
