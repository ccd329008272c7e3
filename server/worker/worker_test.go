package worker_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

const (
	alice  = "+250788000001"
	secret = "whsec_dGhlIHNlY3JldCBvZiBhIHdvcmtlcidzIHRlc3Q="
)

// fixture is a database with one sandbox whose endpoint is a receiver of the test, and any number of workers.
type fixture struct {
	*ledgertest.Store
	t       *testing.T
	url     string
	sql     *pgxpool.Pool
	config  sandboxes.Config
	sandbox *sandboxes.Sandbox
	hook    *receiver
}

// quick is a schedule for tests.
var quick = sandboxes.RetryPolicy{MaxRetries: 3, InitialDelay: 10 * time.Millisecond, Factor: 1, MaxDelay: 20 * time.Millisecond}

// newFixture makes a fixture whose receiver answers as answer says; nil is 204 to everything.
func newFixture(t *testing.T, answer http.HandlerFunc) *fixture {
	t.Helper()
	t.Parallel()
	w := &fixture{t: t, url: ledgertest.URL(t), hook: newReceiver(t, answer)}
	w.Store = ledgertest.Open(t, w.url)
	w.open()
	return w
}

// open makes the sandbox.
func (w *fixture) open() {
	w.t.Helper()
	w.config = sandboxes.Config{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "team", Name: "checkout", Stores: []string{"shop"},
		Environments: []sandboxes.EnvironmentConfig{{Operator: payments.MTN, Country: payments.Rwanda, Enabled: true,
			UnknownPolicy: payments.Passthrough}},
		OpeningFloat: map[payments.Currency]int64{payments.RWF: 1000}, LatencyPercent: 100,
		Webhook: &sandboxes.WebhookConfig{URL: w.hook.url, Retry: quick},
	}
	if _, err := w.ApplySandbox(w.t.Context(), w.config); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.ApplyTestClient(w.t.Context(), w.config.UID, sandboxes.TestClientConfig{
		UID: uuid.UUID(sim.ID).String(), Name: "alice", MSISDN: alice, Operator: payments.MTN, Country: payments.Rwanda,
		Behavior: payments.Approve, Balance: 1_000_000,
	}); err != nil {
		w.t.Fatal(err)
	}
	key := sandboxes.KeyHash{1}
	if err := w.ApplyCredentials(w.t.Context(), w.config.UID, sandboxes.Credentials{APIKeyHash: key, SigningSecret: secret}); err != nil {
		w.t.Fatal(err)
	}
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.sandbox, _ = directory.ByKey(key)
	config, err := pgxpool.ParseConfig(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	config.MaxConns = 2
	if w.sql, err = pgxpool.NewWithConfig(w.t.Context(), config); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.sql.Close)
}

// sim is alice's: a pending payment of a number that has none is not the worker's to settle.
var sim = payments.SIM{ID: [16]byte{15: 1}}

// pay makes a collection of 1000 RWF.
func (w *fixture) pay(reference string, status payments.Status) payments.ID {
	w.t.Helper()
	id, err := w.tryToPay(reference, status)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *fixture) tryToPay(reference string, status payments.Status, change ...func(*ledger.NewCollection)) (payments.ID, error) {
	w.t.Helper()
	id, err := payments.NewID(time.Now(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	n := &ledger.NewCollection{ExpireAfter: time.Hour, Transaction: payments.Transaction{
		Details: payments.Details{Reference: reference, Currency: "RWF", MSISDN: alice}, ID: id,
		Type: payments.Collection, Status: status, OrderRef: reference, Store: "shop", EnvironmentID: "env_1",
		Operator: payments.MTN, Country: payments.Rwanda, Amount: 1000, NetAmount: 1000, AbsorptionPct: 100,
	}}
	n.RequestHash, n.ConfigVersion, n.Clocked = []byte(reference), w.sandbox.ConfigVersion, w.sandbox.Clocked
	for _, f := range change {
		f(n)
	}
	err = w.CreateCollection(w.t.Context(), w.sandbox.Tenant, n)
	return n.Transaction.ID, err // under a clock it has another one
}

// run starts a worker and returns what stops it and waits for its end.
func (w *fixture) run(change ...func(*worker.Options)) (stop func()) {
	w.t.Helper()
	options := worker.Options{
		Database: ledgertest.OpenAs(w.t, w.url, ledgertest.Worker),
		Sender:   webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", time.Now),
		Log:      slog.New(slog.DiscardHandler), Chance: func() float64 { return 0.5 },
		Operators: worker.NewOperatorAccess(egress.Guard{AllowLoopback: true}, time.Now),
	}
	for _, f := range change {
		f(&options)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		worker.New(options).Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(time.Minute):
			w.t.Error("the worker does not end")
		}
	})
	w.t.Cleanup(stop)
	return stop
}

func read[T any](w *fixture, sql string, args ...any) (value T) {
	w.t.Helper()
	if err := w.sql.QueryRow(w.t.Context(), sql, args...).Scan(&value); err != nil {
		w.t.Fatal(err)
	}
	return value
}

// until waits until there are as many events in a state.
func (w *fixture) until(state ledger.EventState, n int) {
	w.t.Helper()
	eventually(w.t, func() string {
		states := read[[]string](w, "select coalesce(array_agg(state::text), '{}') from events")
		got := 0
		for _, s := range states {
			if s == string(state) {
				got++
			}
		}
		if got == n {
			return ""
		}
		return fmt.Sprintf("%d of the events are %s, want %d: %v", got, state, n, states)
	})
}

// eventually waits until nothing is wrong. Its limits guard against hanging only: on a slow machine, what is wrong changes.
func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	began := time.Now()
	changed := began
	for reason := wrong(); reason != ""; {
		if time.Since(changed) > time.Minute || time.Since(began) > 10*time.Minute {
			t.Fatal(reason)
		}
		time.Sleep(5 * time.Millisecond)
		now := wrong()
		if now != reason {
			changed = time.Now()
		}
		reason = now
	}
}

// receiver verifies what comes and keeps it.
type receiver struct {
	url string

	mu   sync.Mutex
	came []delivery
}

type delivery struct {
	id   string // of the event
	body string
	at   time.Time
}

func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		if err := webhooks.Verify(request.Header, body, secret, time.Now()); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.came = append(r.came, delivery{request.Header.Get(webhooks.HeaderDelivery), string(body), time.Now()})
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, request)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// deliveries are what came, in order.
func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.came)
}

func TestPendingPaymentIsSettledAndToldOfOnce(t *testing.T) {
	w := newFixture(t, nil)
	stop := w.run()
	id := w.pay("r1", payments.Pending)
	w.until(ledger.EventDelivered, 1)
	stop()
	transaction, err := w.GetTransaction(t.Context(), w.sandbox.Tenant, id)
	if err != nil || transaction.Status != payments.Success {
		t.Errorf("got %+v, %v", transaction, err)
	}
	came := w.hook.deliveries()
	if len(came) != 1 || came[0].id != webhooks.EventID(id) {
		t.Fatalf("came: %v", came)
	}
	for _, part := range []string{`"event":"payment.completed"`, `"tx_id":"` + id.String() + `"`, `"status":"SUCCESS"`, `"_simulated":true`} {
		if !strings.Contains(came[0].body, part) {
			t.Errorf("the body has no %s: %s", part, came[0].body)
		}
	}
}

func TestDeliveryIsTriedUntilItIsAcknowledged(t *testing.T) {
	var tries atomic.Int32
	w := newFixture(t, func(rw http.ResponseWriter, r *http.Request) {
		switch tries.Add(1) {
		case 1:
			rw.WriteHeader(http.StatusInternalServerError)
		case 2:
			http.Redirect(rw, r, "/elsewhere", http.StatusFound)
		default:
			_, _ = rw.Write([]byte("thanks"))
		}
	})
	w.pay("r1", payments.PINInvalid)
	w.run()
	w.until(ledger.EventDelivered, 1)
	came := w.hook.deliveries()
	if len(came) != 3 || came[0].id != came[1].id || came[0].body != came[1].body || came[0].body != came[2].body {
		t.Errorf("not three times the same: %v", came)
	}
	got := read[[]string](w,
		"select array_agg(attempt || ' ' || response_status || ' ' || coalesce(error, 'acknowledged') order by attempt) from delivery_attempts")
	want := []string{"1 500 the receiver answered 500", "2 302 the receiver answered 302", "3 200 acknowledged"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

func TestDeliveryFails(t *testing.T) {
	cases := map[string]struct {
		status   int
		attempts int
	}{
		"when its retries are used up": {http.StatusInternalServerError, 4},
		"when the endpoint is gone":    {http.StatusGone, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(c.status) })
			w.pay("r1", payments.Success)
			stop := w.run()
			w.until(ledger.EventFailed, 1)
			stop()
			if got := len(w.hook.deliveries()); got != c.attempts {
				t.Errorf("%d attempts were made, want %d", got, c.attempts)
			}
			if got := read[int](w, "select attempts from events where due_at is null"); got != c.attempts {
				t.Errorf("%d attempts are counted, want %d", got, c.attempts)
			}
		})
	}
}

func TestReceiverMayAskForMoreTime(t *testing.T) {
	w := newFixture(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Retry-After", "600")
		rw.WriteHeader(http.StatusServiceUnavailable)
	})
	w.config.Webhook.Retry.MaxDelay = time.Hour
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	w.sandbox.ConfigVersion++
	w.pay("r1", payments.Success)
	stop := w.run()
	eventually(t, func() string {
		if read[int](w, "select attempts from events") == 1 {
			return ""
		}
		return "no attempt was written down"
	})
	stop()
	if got := read[int](w, "select extract(epoch from due_at - now())::int from events where state = 'queued'"); got < 540 || got > 600 {
		t.Errorf("it is tried again in %d s, want 600", got)
	}
}

func TestWorkersShareTheWork(t *testing.T) {
	w := newFixture(t, nil)
	const total = 120
	want := map[string]int{}
	for i := range total {
		status := payments.Pending
		if i%2 == 0 {
			status = payments.Success
		}
		want[webhooks.EventID(w.pay(fmt.Sprint(i), status))] = 1
	}
	stops := []func(){w.run(func(o *worker.Options) { o.Concurrency = 5 }), w.run(func(o *worker.Options) { o.Concurrency = 5 }), w.run()}
	w.until(ledger.EventDelivered, total)
	for _, stop := range stops {
		stop()
	}
	got := map[string]int{}
	for _, d := range w.hook.deliveries() {
		got[d.id]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deliveries of each event (-want +got):\n%s", diff)
	}
}

func TestDeliveriesAtOneTimeAreBounded(t *testing.T) {
	for name, bound := range map[string]func(o *worker.Options){
		"of a worker":     func(o *worker.Options) { o.Concurrency = 3 },
		"of each sandbox": func(o *worker.Options) { o.PerSandbox = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			hold, now, most := false, 0, 0
			full, release := make(chan struct{}), make(chan struct{})
			w := newFixture(t, func(http.ResponseWriter, *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				now++
				most = max(most, now)
				if now == 3 && hold {
					close(full)
				}
				if hold {
					mu.Unlock()
					<-release
					mu.Lock()
				}
				now--
			})
			stop := w.run()
			w.pay("first", payments.Success) // shows that the receiver answers quickly
			w.until(ledger.EventDelivered, 1)
			stop()
			mu.Lock()
			hold, most = true, 0
			mu.Unlock()
			for i := range 9 {
				w.pay(fmt.Sprint(i), payments.Success)
			}
			w.run(bound)
			<-full
			if got := read[int](w, "select count(*) from events where leased"); got != 3 {
				t.Errorf("%d events are leased while 3 can be sent", got)
			}
			mu.Lock()
			hold = false
			mu.Unlock()
			close(release)
			w.until(ledger.EventDelivered, 10)
			if most != 3 {
				t.Errorf("%d deliveries were on their way at one time", most)
			}
		})
	}
}

func TestStoppedWorkerFinishesWhatItHasBegun(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	w := newFixture(t, func(http.ResponseWriter, *http.Request) {
		close(began) // a second delivery would panic
		<-release
	})
	w.pay("r1", payments.Success)
	stop := w.run()
	<-began
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	select {
	case <-stopped:
		t.Error("the worker has ended during a delivery")
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	<-stopped
	if got := read[int](w,
		"select count(*) from events e join delivery_attempts a on a.event_id = e.id where e.state = 'delivered' and a.error is null"); got != 1 {
		t.Error("the delivery was not written down")
	}
}

func TestEventThatCannotBeSignedWaits(t *testing.T) {
	logged := &log{}
	w := newFixture(t, nil)
	id := w.pay("r1", payments.Success)
	if _, err := w.sql.Exec(t.Context(), "update organizations set signing_secret = '\\x00'"); err != nil {
		t.Fatal(err)
	}
	stop := w.run(logged.into)
	logged.until(t, "event cannot be sent")
	stop()
	if got := read[int](w, "select count(*) from events where state = 'queued' and attempts = 0 and due_at > now()"); got != 1 {
		t.Error("the event does not wait")
	}
	if err := w.ApplyCredentials(t.Context(), w.config.UID, sandboxes.Credentials{APIKeyHash: sandboxes.KeyHash{1},
		SigningSecret: secret}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.sql.Exec(t.Context(), "update events set due_at = now()"); err != nil { // its lease ends
		t.Fatal(err)
	}
	w.run()
	w.until(ledger.EventDelivered, 1)
	if came := w.hook.deliveries(); len(came) != 1 || came[0].id != webhooks.EventID(id) {
		t.Errorf("came: %v", came)
	}
}

func TestForbiddenEndpointIsAFailedAttempt(t *testing.T) {
	w := newFixture(t, nil)
	w.pay("r1", payments.Success)
	w.run(func(o *worker.Options) { o.Sender = webhooks.NewSender(egress.Guard{}, "test", time.Now) })
	w.until(ledger.EventFailed, 1)
	if got := read[string](w, "select distinct error from delivery_attempts"); !strings.Contains(got, "events may not be sent to 127.0.0.1") {
		t.Errorf("the attempts say %q", got)
	}
	if came := w.hook.deliveries(); len(came) != 0 {
		t.Errorf("came: %v", came)
	}
}

// A worker may start before its database is there, and needs no restart when it comes.
func TestWorkerWaitsForItsDatabase(t *testing.T) {
	t.Parallel()
	logged := &log{}
	w := &fixture{t: t, url: ledgertest.Empty(t), hook: newReceiver(t, nil)}
	w.Store = ledgertest.Open(t, w.url)
	w.run(logged.into)
	logged.until(t, "sweep failed", "sweep=queues")
	logged.until(t, "sweep failed", "sweep=settlement")
	logged.until(t, "sweep failed", "sweep=delivery")
	logged.until(t, "sweep failed", "sweep=passthrough")
	logged.until(t, "sweep failed", "sweep=callbacks")
	logged.until(t, "sweep failed", "sweep=purge")
	logged.until(t, "sweep failed", "sweep=changes")
	logged.until(t, "sweep failed", "sweep=retention")
	logged.until(t, "sweep failed", "sweep=clock")
	logged.until(t, "sweep failed", "sweep=verification")
	logged.until(t, "sweep failed", "sweep=expectations")
	logged.until(t, "sweep failed", "sweep=receiver_checks")
	if err := postgres.MigrateAs(t.Context(), w.url, "cauri"); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.pay("r1", payments.Pending)
	w.until(ledger.EventDelivered, 1)
	logged.until(t, "sweep works again", "sweep=settlement")
	if got := logged.count("sweep failed"); got != 12 {
		t.Errorf("%d failures were logged, want one for each sweep", got)
	}
}

// A cut connection is not the end of a worker either.
func TestWorkerOutlivesItsConnections(t *testing.T) {
	w := newFixture(t, nil)
	w.run()
	w.pay("r1", payments.Pending)
	w.until(ledger.EventDelivered, 1)
	cut := "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
	for range 3 {
		read[int](w, cut)
	}
	eventually(t, func() string { // the test shares the connections that were cut
		_, err := w.tryToPay("r2", payments.Pending)
		if taken := new(ledger.ErrReferenceTaken); err == nil || errors.As(err, &taken) {
			return ""
		}
		return err.Error()
	})
	w.until(ledger.EventDelivered, 2)
}

// log keeps what a worker logs.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

func (l *log) into(o *worker.Options) { o.Log = slog.New(slog.NewTextHandler(l, nil)) }

// count counts the lines that hold all of the parts.
func (l *log) count(parts ...string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			n++
		}
	}
	return n
}

// until waits for a line that holds all of the parts.
func (l *log) until(t *testing.T, parts ...string) {
	t.Helper()
	eventually(t, func() string {
		if l.count(parts...) > 0 {
			return ""
		}
		return fmt.Sprintf("nothing was logged with %q", parts)
	})
}

// Neither the secret nor a password in the URL may be logged.
func TestLogHoldsNoSecrets(t *testing.T) {
	logged := &log{}
	w := newFixture(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTeapot) })
	w.config.Webhook.URL = strings.Replace(w.hook.url, "://", "://user:hunter2-hunter2@", 1)
	if _, err := w.ApplySandbox(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	w.sandbox.ConfigVersion++
	w.pay("r1", payments.Success)
	w.run(logged.into)
	w.until(ledger.EventFailed, 1)
	logged.until(t, "delivery attempt", "state=failed", "status=418", "attempt=4")
	for _, s := range []string{"hunter2", secret, strings.TrimPrefix(secret, webhooks.SecretPrefix)} {
		if logged.count(s) > 0 {
			t.Errorf("the log shows %s", s)
		}
	}
}
