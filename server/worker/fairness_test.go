package worker_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// beside makes another sandbox, with an endpoint, and returns its tenant.
func (w *fixture) beside(name, url string) int64 {
	w.t.Helper()
	config := w.config
	config.UID, config.Name = uuid.NewSHA1(uuid.Nil, []byte(name)).String(), name
	config.Webhook = &sandboxes.WebhookConfig{URL: url, Retry: sandboxes.DefaultRetryPolicy}
	if _, err := w.ApplySandbox(w.t.Context(), config); err != nil {
		w.t.Fatal(err)
	}
	credentials := sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(name)), SigningSecret: secret}
	if err := w.ApplyCredentials(w.t.Context(), config.UID, credentials); err != nil {
		w.t.Fatal(err)
	}
	return read[int64](w, "select tenant from organizations where name = $1", name)
}

// queue gives sandboxes so many copies each of a transaction, with an event that is due.
func (w *fixture) queue(like payments.ID, n int, tenants ...int64) {
	w.t.Helper()
	w.copies(like, n, tenants...)
	if _, err := w.sql.Exec(w.t.Context(), `insert into events (tenant, id, state, due_at)
		select tenant, id, 'queued', now() from transactions where tenant = any($1)`, tenants); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.sql.Exec(w.t.Context(), "analyze transactions, events"); err != nil {
		w.t.Fatal(err)
	}
}

// copies gives sandboxes so many copies each of a transaction.
func (w *fixture) copies(like payments.ID, n int, tenants ...int64) {
	w.t.Helper()
	columns := read[[]string](w, `select array_agg(column_name::text order by ordinal_position) from information_schema.columns
		where table_schema = current_schema() and table_name = 'transactions'`)
	values := slices.Clone(columns)
	for i, column := range columns {
		switch column {
		case "tenant":
			values[i] = "given.tenant"
		case "id":
			values[i] = "recording_id(gen_random_uuid())"
		case "reference":
			values[i] = "gen_random_uuid()::text"
		default:
			values[i] = "t." + column
		}
	}
	sql := fmt.Sprintf(`insert into transactions (%s) select %s
		from transactions t, unnest($3::bigint[]) as given(tenant), generate_series(1, $2::int) where t.id = $1`,
		strings.Join(columns, ", "), strings.Join(values, ", "))
	if _, err := w.sql.Exec(w.t.Context(), sql, uuid.UUID(like), n, tenants); err != nil {
		w.t.Fatal(err)
	}
}

// moments are when something happened, in order.
type moments struct {
	mu sync.Mutex
	at []time.Time
}

func (m *moments) now() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = append(m.at, time.Now())
}

func (m *moments) count() int { return m.between(time.Time{}, time.Now()) }

// between is how often it happened after one moment and before another.
func (m *moments) between(from, to time.Time) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range m.at {
		if at.After(from) && at.Before(to) {
			n++
		}
	}
	return n
}

// A sandbox with 100,000 queued events, one whose endpoint hangs, and fifty whose endpoints are dead or hang too, do not keep a healthy
// one's events waiting: few of the flood go out before each of them, however fast the machine is, and most wait for no attempt at an
// endpoint that hangs to end. The row `fair` of the bench says how long they take.
func TestNoSandboxDelaysAnother(t *testing.T) {
	w := newFixtureAlone(t)
	like := w.pay("like", payments.PINInvalid)
	flood, hung := &moments{}, &moments{}
	flooded := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { flood.now() }))
	t.Cleanup(flooded.Close)
	release := make(chan struct{})
	hanging := httptest.NewServer(hang(release, hung))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(release) })

	w.queue(like, 100_000, w.beside("flooded", flooded.URL))
	w.queue(like, 2_000, w.beside("hanging", hanging.URL))
	var dead []int64
	for i := range 50 {
		url := "http://127.0.0.1:1/" // refused
		if i%2 == 0 {
			url = hanging.URL
		}
		dead = append(dead, w.beside(fmt.Sprint("dead-", i), url))
	}
	w.queue(like, 50, dead...)
	w.run()
	const healthy = 60
	due := map[string]time.Time{}
	pace := time.Tick(50 * time.Millisecond)
	for i := range healthy { // events that come one after the other, from the worker's first moment on
		began := time.Now()
		id := w.pay(fmt.Sprint("healthy-", i), payments.PINInvalid)
		due["evt_"+id.Code()] = began
		<-pace
	}
	eventually(t, func() string {
		if got := len(w.hook.deliveries()); got < healthy+1 {
			return fmt.Sprintf("%d of %d events came", got, healthy+1)
		}
		return ""
	})
	var late []time.Duration
	var overtaken []int
	waited := 0
	for _, d := range w.hook.deliveries() {
		if from, ok := due[d.id]; ok {
			late = append(late, d.at.Sub(from))
			overtaken = append(overtaken, flood.between(from, d.at))
			if hung.between(from, d.at) > 0 {
				waited++
			}
		}
	}
	slices.Sort(late)
	t.Logf(
		"healthy events came after %s in the middle, %s at most, while %d of the flood went out, %d at most before one of them; %d saw an attempt that hung end",
		late[len(late)/2],
		late[len(late)-1],
		flood.count(),
		slices.Max(overtaken),
		waited,
	)
	if most := slices.Max(overtaken); most > 10_000 {
		t.Errorf("before one event of a healthy sandbox %d of another one's queue of 100,000 went out", most)
	}
	if waited > healthy/2 {
		t.Errorf("%d of %d events of a healthy sandbox came only after an attempt at an endpoint that hangs had ended", waited, healthy)
	}
	if flood.count() == 0 {
		t.Error("nothing of the flood went out")
	}
}

// hang answers nobody until it is told to, and notes when an attempt ends.
func hang(release <-chan struct{}, ended *moments) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see that the client goes away
		select {
		case <-release:
		case <-r.Context().Done():
			ended.now()
		}
	}
}

// One sandbox's slow operator does not delay another's: most collections of the other one wait for no exchange with the slow
// one to end.
func TestNoOperatorDelaysAnother(t *testing.T) {
	w := newPassthrough(t)
	release, ended := make(chan struct{}), &moments{}
	t.Cleanup(func() { close(release) })
	slowly := hang(release, ended)
	o := newOperators(w, func(rw http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/slow/") {
			slowly(rw, r)
			return true
		}
		return false
	})
	w.configure(named(o.URL+"/slow", known))
	slow := w.beside("slow", w.hook.url)
	w.configure(named(o.URL, known))
	like := w.collect("like", payments.MTN)
	w.copies(like, 1000, slow)
	w.run()
	const collections = 20
	waited, began := 0, time.Now()
	for i := range collections {
		from := time.Now()
		w.ended(w.collect(fmt.Sprint("r", i), payments.MTN))
		if ended.between(from, time.Now()) > 0 {
			waited++
		}
	}
	t.Logf("twenty collections one after the other took %s; %d saw an exchange that hung end", time.Since(began), waited)
	if waited > collections/2 {
		t.Errorf("%d of %d collections ended only after an exchange with another sandbox's slow operator had ended", waited, collections)
	}
}

// Callbacks that one sandbox has to send to a receiver that hangs do not delay another's: most callbacks of the other one wait for no
// attempt at the receiver to end.
func TestNoReceiverOfCallbacksDelaysAnother(t *testing.T) {
	w := newFixture(t, nil)
	w.config.CallbackHosts = []string{"127.0.0.1"}
	w.configure()
	w.alices(payments.Approve, 1_000_000)
	release, ended := make(chan struct{}), &moments{}
	hanging := httptest.NewServer(hang(release, ended))
	t.Cleanup(hanging.Close)
	defer close(release) // before the worker stops, which waits for its attempts
	slow := w.beside("slow", w.hook.url)
	w.copies(w.pay("like", payments.PINInvalid), 1000, slow)
	w.exec("insert into native_requests (tenant, id, operation, sent) select tenant, id, 'requesttopay', '{}' from transactions where tenant = $1", slow)
	w.exec(`insert into native_callbacks (tenant, id, transaction_id, kind, url, state, due_at)
		select tenant, id, id, '', $2, 'queued', now() from transactions where tenant = $1`, slow, hanging.URL)
	good := newCallbackReceiver(t, http.StatusOK)
	w.run()
	const callbacks = 15
	waited, began := 0, time.Now()
	for i := range callbacks {
		from := time.Now()
		w.askedOfAlice(fmt.Sprint("r", i), payments.Success, 0, good.URL)
		eventually(t, func() string {
			if n := len(good.all()); n <= i {
				return fmt.Sprintf("%d callbacks came", n)
			}
			return ""
		})
		if ended.between(from, time.Now()) > 0 {
			waited++
		}
	}
	t.Logf("%d callbacks one after the other took %s; %d saw an attempt that hung end", callbacks, time.Since(began), waited)
	if waited > callbacks/2 {
		t.Errorf("%d of %d callbacks came only after an attempt at another sandbox's receiver had ended", waited, callbacks)
	}
	if began := read[int](w, "select count(*)::int from native_callbacks where tenant = $1 and leased_until is not null", slow); began == 0 {
		t.Error("no callback of the slow sandbox was sent")
	}
}
