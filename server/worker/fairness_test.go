package worker_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// beside makes another sandbox, with an endpoint, and returns its tenant.
func (w *world) beside(name, url string) int64 {
	w.t.Helper()
	config := w.config
	config.UID, config.Name = uuid.NewSHA1(uuid.Nil, []byte(name)).String(), name
	config.Webhook = &store.WebhookConfig{URL: url, Retry: store.DefaultRetryPolicy}
	if _, err := w.ApplySandbox(w.t.Context(), config); err != nil {
		w.t.Fatal(err)
	}
	credentials := store.Credentials{APIKeyHash: sha256.Sum256([]byte(name)), SigningSecret: secret}
	if err := w.ApplyCredentials(w.t.Context(), config.UID, credentials); err != nil {
		w.t.Fatal(err)
	}
	return read[int64](w, "select tenant from organizations where name = $1", name)
}

// queue gives sandboxes so many copies each of a transaction, with an event that is due.
func (w *world) queue(like payments.ID, n int, tenants ...int64) {
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
func (w *world) copies(like payments.ID, n int, tenants ...int64) {
	w.t.Helper()
	columns := read[[]string](w, `select array_agg(column_name::text order by ordinal_position) from information_schema.columns
		where table_schema = current_schema() and table_name = 'transactions'`)
	values := slices.Clone(columns)
	for i, column := range columns {
		switch column {
		case "tenant":
			values[i] = "given.tenant"
		case "id":
			values[i] = "gen_random_uuid()"
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

// arrivals are when events came.
type arrivals struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (a *arrivals) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at[r.Header.Get("X-Service-Delivery")] = time.Now()
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.at)
}

// A sandbox with 100,000 queued events, one whose endpoint hangs, and fifty whose endpoints are dead or hang too delay a healthy
// one's events by less than a second.
func TestNoSandboxDelaysAnother(t *testing.T) {
	if testing.Short() {
		t.Skip("queues 100,000 events")
	}
	w := newWorldAlone(t)
	like := w.pay("like", payments.PINInvalid)
	flood := &arrivals{at: map[string]time.Time{}}
	flooded := httptest.NewServer(flood)
	t.Cleanup(flooded.Close)
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
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
		id := w.pay(fmt.Sprint("healthy-", i), payments.PINInvalid)
		due["evt_"+id.Code()] = time.Now()
		<-pace
	}
	eventually(t, func() string {
		if got := len(w.hook.deliveries()); got < healthy+1 {
			return fmt.Sprintf("%d of %d events came", got, healthy+1)
		}
		return ""
	})
	var late []time.Duration
	for _, d := range w.hook.deliveries() {
		if at, ok := due[d.id]; ok {
			late = append(late, d.at.Sub(at))
		}
	}
	slices.Sort(late)
	t.Logf("healthy events came after %s in the middle, %s at most, while %d of the flood went out", late[len(late)/2], late[len(late)-1], flood.count())
	if most := late[len(late)-1]; most > time.Second {
		t.Errorf("an event of a healthy sandbox came %s after it was due: %v", most, late)
	}
	if flood.count() == 0 {
		t.Error("nothing of the flood went out")
	}
}

// One sandbox's slow operator does not take the turn of another's: its collections end while those of the slow one's all hang.
func TestNoOperatorDelaysAnother(t *testing.T) {
	w := newPassthrough(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	o := newOperators(w, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/slow/") {
			select {
			case <-release:
			case <-r.Context().Done():
			}
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
	for i := range 20 {
		w.ended(w.collect(fmt.Sprint("r", i), payments.MTN))
	}
	if n := read[int](w, "select count(*)::int from transactions where tenant = $1 and status <> 'PENDING'", slow); n != 0 {
		t.Errorf("%d of the slow operator's ended", n)
	}
}
