package worker_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

// checked is a fixture whose receiver verifies signatures, and answers 204 to what is genuine after the function on.
func checked(t *testing.T, on func(request int)) (w *fixture, requests *atomic.Int64) {
	t.Helper()
	w = newFixture(t, nil)
	requests = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n := int(requests.Add(1))
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if on != nil {
			on(n)
		}
		if webhooks.Verify(r.Header, body, secret, time.Now()) != nil {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		rw.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	w.config.Webhook.URL = server.URL
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	w.sandbox.ConfigVersion++
	return w, requests
}

func (w *fixture) askForCheck(tx *payments.ID) (payments.ID, error) {
	w.t.Helper()
	id, err := payments.NewID(time.Now(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	return id, w.RequestReceiverCheck(w.t.Context(), w.sandbox.Tenant, id, tx, false)
}

// atOnce measures every answer as one that came at once: how fast this machine is decides no grade here.
func atOnce(o *worker.Options) {
	now := time.Now()
	o.Sender = webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", func() time.Time { return now })
}

// runCounted starts a worker. The function says how many checks with a result it has counted in the end.
func (w *fixture) runCounted() (ended func(result string, want float64)) {
	registry := prometheus.NewRegistry()
	w.run(atOnce, func(o *worker.Options) { o.Metrics = telemetry.NewWorker(registry) })
	return func(result string, want float64) {
		w.t.Helper()
		eventually(w.t, func() string {
			return cmp.Diff(want, counted(w.t, registry, "cauri_worker_receiver_checks_total", result))
		})
	}
}

// awaitCheck waits until a check has ended, and returns it with its card.
func (w *fixture) awaitCheck(id payments.ID) (check *receiverchecks.Check, card grade.Card) {
	w.t.Helper()
	eventually(w.t, func() string {
		var err error
		if check, err = w.GetReceiverCheck(w.t.Context(), w.sandbox.Tenant, id); err != nil {
			return err.Error()
		}
		if check.FinishedAt == nil {
			return fmt.Sprintf("the check has not ended: %s", check.Card)
		}
		return ""
	})
	if check.Card != nil {
		if err := json.Unmarshal(check.Card, &card); err != nil {
			w.t.Fatal(err)
		}
	}
	return check, card
}

func TestReceiverIsChecked(t *testing.T) {
	w, requests := checked(t, nil)
	ended := w.runCounted()
	id, err := w.askForCheck(nil)
	if err != nil {
		t.Fatal(err)
	}
	check, card := w.awaitCheck(id)
	if card.Letter != grade.A || card.Count(grade.Passed) != len(grade.Lines()) || check.Problem != "" {
		t.Errorf("the check is %+v, and its card %+v", check, card)
	}
	const rows = "select (select count(*) from transactions) + (select count(*) from events) + (select count(*) from delivery_attempts)"
	if n := read[int](w, rows); n != 0 {
		t.Errorf("the check has left %d rows", n)
	}
	before := requests.Load()
	var often receiverchecks.ErrTooManyChecks
	if _, err := w.askForCheck(nil); !errors.As(err, &often) || often.Wait <= 0 || often.Wait > time.Minute {
		t.Errorf("another check within a minute has the error %v", err)
	}
	read[int](w, "update receiver_checks set requested_at = requested_at - interval '1 minute' returning 1")
	if id, err = w.askForCheck(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.askForCheck(nil); !errors.As(err, &often) || often.Wait != 0 {
		t.Errorf("another check while one is open has the error %v", err)
	}
	read[int](w, "with moved as (update receiver_checks set began_at = began_at - interval '1 minute' returning 1) select count(*) from moved")
	w.awaitCheck(id)
	if n := requests.Load(); n != 2*before {
		t.Errorf("the second check has sent %d requests, and the first %d", n-before, before)
	}
	ended("A", 2)
}

// With a transaction, the genuine event is that which was delivered.
func TestReceiverIsCheckedWithATransaction(t *testing.T) {
	w, _ := checked(t, nil)
	tx := w.pay("r1", payments.Success)
	ended := w.runCounted()
	w.until(ledger.EventDelivered, 1)
	id, err := w.askForCheck(&tx)
	if err != nil {
		t.Fatal(err)
	}
	if _, card := w.awaitCheck(id); card.Letter != grade.A {
		t.Errorf("the card is %+v", card)
	}
	read[int](w, "update receiver_checks set requested_at = 'epoch', began_at = 'epoch' returning 1")
	if _, err := w.sql.Exec(t.Context(), "update events set body = null"); err != nil {
		t.Fatal(err)
	}
	if id, err = w.askForCheck(&tx); err != nil {
		t.Fatal(err)
	}
	if check, _ := w.awaitCheck(id); !strings.Contains(check.Problem, tx.String()+" was removed") {
		t.Errorf("the check is %+v", check)
	}
	ended(telemetry.CheckProblem, 1)
}

// A reset ends a check that runs.
func TestResetCancelsACheck(t *testing.T) {
	third, goOn := make(chan struct{}), make(chan struct{})
	w, requests := checked(t, func(n int) {
		if n == 3 {
			close(third)
			<-goOn
		}
	})
	ended := w.runCounted()
	if _, err := w.askForCheck(nil); err != nil {
		t.Fatal(err)
	}
	<-third
	w.config.Reset = "again"
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.sandbox, _ = directory.ByKey(sandboxes.KeyHash{1})
	w.pay("after-the-reset", payments.Success) // it is delivered, and no line of the check follows
	w.until(ledger.EventDelivered, 1)
	ended(telemetry.CheckCanceled, 1)
	if n := requests.Load(); n != 4 { // three of the check, and the event
		t.Errorf("%d requests were sent", n)
	}
}

// A worker that is killed leaves a check that another one runs when the lease has ended. Its own result is lost.
func TestCheckOfAWorkerThatIsKilled(t *testing.T) {
	w, _ := checked(t, nil)
	id, err := w.askForCheck(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := ledgertest.OpenAs(t, w.url, ledgertest.Worker)
	killed, err := own.LeaseReceiverCheck(t.Context(), time.Hour, time.Hour)
	if err != nil || killed == nil || killed.ID != id || killed.Secret != secret {
		t.Fatalf("leased is %+v, %v", killed, err)
	}
	if again, err := own.LeaseReceiverCheck(t.Context(), time.Hour, time.Hour); again != nil || err != nil {
		t.Fatalf("it is leased twice: %+v, %v", again, err)
	}
	read[int](w, "update receiver_checks set leased_until = now(), began_at = now() - interval '1 minute' returning 1")
	w.run(atOnce)
	if _, card := w.awaitCheck(id); card.Letter != grade.A {
		t.Errorf("the card is %+v", card)
	}
	if err := own.FinishReceiverCheck(t.Context(), killed, json.RawMessage(`{}`), ""); !errors.Is(err, receiverchecks.ErrEnded) {
		t.Errorf("the killed worker's result has the error %v", err)
	}
}

// Sandboxes with receivers at one host are checked one after the other, and not within a minute.
func TestOneHostIsCheckedOnceAMinute(t *testing.T) {
	w, _ := checked(t, nil)
	other := w.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	off, ci := w.config.Environments[0], w.config.Environments[0]
	off.Operator, off.Enabled = payments.Airtel, false
	ci.Operator, ci.Country = payments.Orange, payments.CoteDIvoire
	other.Environments = []sandboxes.EnvironmentConfig{off, ci, w.config.Environments[0]}
	if _, err := w.ApplySandbox(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	tenant := read[int64](w, "select tenant from organizations where name = 'other'")
	if _, err := w.askForCheck(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.RequestReceiverCheck(t.Context(), tenant, payments.LastID, nil, false); err != nil {
		t.Fatal(err)
	}
	own := ledgertest.OpenAs(t, w.url, ledgertest.Worker)
	lease := func() *receiverchecks.Leased {
		t.Helper()
		leased, err := own.LeaseReceiverCheck(t.Context(), time.Minute, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return leased
	}
	first := lease()
	if second := lease(); first == nil || second != nil {
		t.Fatalf("leased are %+v and %+v", first, second)
	}
	if err := own.FinishReceiverCheck(t.Context(), first, json.RawMessage(`{}`), ""); err != nil {
		t.Fatal(err)
	}
	if second := lease(); second != nil {
		t.Errorf("the host is checked again within a minute: %+v", second)
	}
	read[int](w, "update receiver_checks set began_at = began_at - interval '1 minute' where finished_at is not null returning 1")
	if second := lease(); second == nil || second.Tenant != tenant || !strings.Contains(second.Problem, "no signing secret") {
		t.Errorf("leased is %+v", second)
	} else if (first.Market != grade.Market{Operator: payments.MTN, Country: payments.Rwanda}) ||
		(second.Market != grade.Market{Operator: payments.Orange, Country: payments.CoteDIvoire}) {
		t.Errorf("the markets are %+v and %+v, want those of the first enabled environments", first.Market, second.Market)
	}
}

// Slow receivers of sixteen sandboxes hold up the check of no other one: what has been slow takes turns in slots of its own.
func TestSlowReceiversDelayNoOtherCheck(t *testing.T) {
	const sandboxesOfSlow = 16
	w, _ := checked(t, nil)
	var slow sync.Map           // hosts that have answered once
	var ahead, met atomic.Int64 // the worker's clock runs ahead by the hours that these answers take
	release := make(chan struct{})
	everywhere, err := net.Listen("tcp4", "0.0.0.0:0") // at all addresses of 127.0.0.0/8
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if _, again := slow.LoadOrStore(r.Host, true); again {
			<-release
		} else {
			ahead.Add(int64(time.Hour))
			met.Add(1)
		}
		rw.WriteHeader(http.StatusNoContent)
	}))
	_ = server.Listener.Close()
	server.Listener = everywhere
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) }) // before the server waits for its requests
	_, port, err := net.SplitHostPort(everywhere.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for i := range sandboxesOfSlow {
		w.addSlowReceiver(i+2, port)
	}
	w.run(atOnce, func(o *worker.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	eventually(t, func() string { return cmp.Diff(int64(sandboxesOfSlow), met.Load()) })
	id, err := w.askForCheck(nil)
	if err != nil {
		t.Fatal(err)
	}
	if check, card := w.awaitCheck(id); check.Problem != "" || len(card.Results) != len(grade.Lines()) {
		t.Errorf("the check is %+v", check)
	}
	if n := read[int](w, "select count(*) from receiver_checks where finished_at is null"); n != sandboxesOfSlow {
		t.Errorf("%d checks of slow receivers are open", n)
	}
}

// addSlowReceiver makes a sandbox with its receiver at an address of its own, and asks for a check.
func (w *fixture) addSlowReceiver(n int, port string) {
	w.t.Helper()
	config := w.config
	config.UID, config.Name = fmt.Sprintf("33333333-3333-3333-3333-%012d", n), fmt.Sprintf("slow-%d", n)
	config.Webhook = &sandboxes.WebhookConfig{URL: fmt.Sprintf("http://127.0.0.%d:%s", n, port), Retry: quick}
	_, err := w.ApplySandbox(w.t.Context(), config)
	if err == nil {
		key := sandboxes.KeyHash{1, byte(n)}
		err = w.ApplyCredentials(w.t.Context(), config.UID, sandboxes.Credentials{APIKeyHash: key, SigningSecret: secret})
	}
	id, idErr := payments.NewID(time.Now(), rand.Reader)
	if err = errors.Join(err, idErr); err == nil {
		tenant := read[int64](w, fmt.Sprintf("select tenant from organizations where name = '%s'", config.Name))
		err = w.RequestReceiverCheck(w.t.Context(), tenant, id, nil, false)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestCheckOfASuspendedSandboxEnds(t *testing.T) {
	w, _ := checked(t, nil)
	id, err := w.askForCheck(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.config.Suspended = true
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	own := ledgertest.OpenAs(t, w.url, ledgertest.Worker)
	for expire, want := range map[time.Duration]bool{time.Hour: false, 0: true} {
		if leased, err := own.LeaseReceiverCheck(t.Context(), time.Minute, expire); leased != nil || err != nil {
			t.Errorf("leased is %+v, %v", leased, err)
		}
		if want {
			if check, _ := w.awaitCheck(id); !strings.Contains(check.Problem, "No worker could begin the check") {
				t.Errorf("the check is %+v", check)
			}
		}
	}
}
