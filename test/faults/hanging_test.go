package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	// contractual is the longest wait of a request for a database that hangs. leeway is extra time for a busy machine.
	contractual, leeway = 10 * time.Second, 50 * time.Second
	// goroutinesAtMost is the limit for an api. The number of waiting requests is bounded. Each connection needs two
	// goroutines.
	goroutinesAtMost = 4000
)

// patience records the answers while the database hangs. Each request must get a result or 503 in time.
type patience struct {
	mu       sync.Mutex
	wrong    []string
	refused  int
	slowest  time.Duration
	answered int
}

func (p *patience) see(a system.Answer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered++
	p.slowest = max(p.slowest, a.Took)
	var body struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	switch {
	case err != nil:
		p.wrong = append(p.wrong, "no answer: "+err.Error())
	case a.Status == http.StatusServiceUnavailable:
		p.refused++
		if json.Unmarshal(a.Body, &body) != nil || body.Error != "unavailable" && body.Error != "overloaded" ||
			a.Header.Get("Retry-After") == "" {
			p.wrong = append(p.wrong, fmt.Sprintf("503 %s", a.Body))
		}
	case a.Status/100 != 2:
		p.wrong = append(p.wrong, fmt.Sprintf("%d %s", a.Status, a.Body))
	}
	if limit := contractual + leeway; a.Took > limit {
		p.wrong = append(p.wrong, fmt.Sprintf("an answer after %s, longer than %s: %d %s", a.Took, limit, a.Status, a.Body))
	}
}

// crowd is a merchant with many concurrent requests.
type crowd struct {
	*system.Merchant
	stranger *system.Client // with an unknown key: each of its requests needs a look at the configuration
	paid     string         // id of a payment

	mu       sync.Mutex
	answered map[string]system.Answer // by reference
}

func (w *fixture) crowd(api *system.API, seen *patience) *crowd {
	w.t.Helper()
	c := &crowd{Merchant: w.merchant("crowd", api, system.Acknowledge), answered: map[string]system.Answer{}}
	c.stranger = c.Client.WithKey("cauri_sk_test_of_nobody")
	c.paid = w.pay(c.Merchant, system.NewPayment("paid", system.Unregistered, "success")).TransactionID()
	c.Client.Observe = seen.see
	return c
}

// rush sends concurrent requests of all kinds and waits for all answers.
func (w *fixture) rush(c *crowd) {
	w.t.Helper()
	const each = 150
	calls := []func(ctx context.Context, n int) error{
		func(ctx context.Context, n int) error {
			reference := fmt.Sprintf("burst-%d", n)
			answer, err := c.Client.Post(ctx, "/payments", system.NewPayment(reference, system.Unregistered, "success"))
			c.mu.Lock()
			defer c.mu.Unlock()
			c.answered[reference] = answer
			return err
		},
		func(ctx context.Context, _ int) error { _, err := c.Client.Get(ctx, "/payments?limit=1"); return err },
		func(ctx context.Context, _ int) error { _, err := c.Client.Get(ctx, "/payments/"+c.paid); return err },
		func(ctx context.Context, _ int) error {
			answer, err := c.stranger.Get(ctx, "/payments?limit=1")
			if err == nil &&
				(answer.Took > contractual+leeway || answer.Status != http.StatusUnauthorized && answer.Status != http.StatusServiceUnavailable) {
				err = fmt.Errorf("a stranger was answered %d after %s", answer.Status, answer.Took)
			}
			return err
		},
	}
	var all sync.WaitGroup
	for n := range each {
		for _, call := range calls {
			all.Go(func() {
				if err := call(w.t.Context(), n); err != nil {
					w.t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

// toldTheTruth compares the answers that clients got with the records. A client without a definite answer repeats its
// request with the same reference, as it must. The result is what all clients then know, by reference.
func (w *fixture) toldTheTruth(c *crowd) map[string]system.Transaction {
	w.t.Helper()
	uncertain := 0
	told := map[string]system.Transaction{"paid": w.shown(c.Merchant, c.paid)}
	for reference, answer := range c.answered {
		found, err := w.Count(w.t.Context(), "select count(*) from transactions where tenant = $1 and reference = $2", c.Tenant, reference)
		w.must(err)
		switch {
		case answer.Status/100 == 2:
			if found != 1 {
				w.t.Errorf("%s was answered %d and is recorded %d times", reference, answer.Status, found)
			}
			told[reference] = w.shown(c.Merchant, answer.TransactionID())
		case strings.Contains(string(answer.Body), "recorded nothing") && found != 0:
			w.t.Errorf("%s was answered %s and is recorded", reference, answer.Body)
		case strings.Contains(string(answer.Body), "not known whether"):
			uncertain++
			if !strings.Contains(string(answer.Body), fmt.Sprintf("%q:%q", "reference", reference)) {
				w.t.Errorf("%s was answered %s, without its reference", reference, answer.Body)
			}
			again := w.pay(c.Merchant, system.NewPayment(reference, system.Unregistered, "success"))
			told[reference] = w.shown(c.Merchant, again.TransactionID())
		}
	}
	w.t.Logf("of %d payments, the clients of %d were told that it is not known whether they were recorded", len(c.answered), uncertain)
	return told
}

var goroutines = regexp.MustCompile(`(?m)^go_goroutines (\d+)$`)

func (w *fixture) goroutines(api *system.API) int {
	w.t.Helper()
	metrics, err := api.Metrics(w.t.Context())
	w.must(err)
	found := goroutines.FindStringSubmatch(metrics)
	if found == nil {
		w.t.Fatal("the api does not report its goroutines")
	}
	n, err := strconv.Atoi(found[1])
	w.must(err)
	return n
}

// hangs checks the answers that clients get while the database hangs. Afterwards, everything must recover by itself,
// with nothing lost or doubled.
func (w *fixture) hangs(api *system.API, workers []*system.Worker, freeze, thaw func() error) {
	w.t.Helper()
	var seen patience
	m, c := w.merchant("enduring", api, system.Acknowledge), w.crowd(api, &seen)
	m.Client.Observe = seen.see
	progress, stop := w.shopping(m, 4)
	defer stop()
	w.progresses(progress, 10)
	calm := w.goroutines(api)

	w.must(freeze())
	most := w.mostGoroutines(api, func() { w.rush(c) })
	w.t.Logf("%d requests were answered, %d of them 503, the slowest after %s; %d goroutines before, %d at most",
		seen.answered, seen.refused, seen.slowest.Round(time.Millisecond), calm, most)
	if seen.refused == 0 {
		w.t.Error("nobody was answered 503: the test tested nothing")
	}
	if most > goroutinesAtMost {
		w.t.Errorf("the api had %d goroutines", most)
	}
	for _, worker := range workers {
		w.until(time.Minute, worker.Name+" says that it lives", func(ctx context.Context) error {
			return system.Answers(ctx, worker.HealthURL+"/healthz", http.StatusOK)
		})
	}
	w.must(thaw())

	w.progresses(progress, 10)
	for _, worker := range workers {
		w.until(time.Minute, worker.Name+" is ready again", worker.Ready)
	}
	told := stop()
	w.report(seen.wrong)
	w.booked(m, told)
	w.booked(c.Merchant, w.toldTheTruth(c))
	w.drained(m, c.Merchant)
	for _, p := range append([]*system.Worker{{Process: api.Process}}, workers...) {
		if !p.Running() {
			w.t.Errorf("%s ended because the database hung", p.Name)
		}
	}
}

// mostGoroutines is the highest number of goroutines of the api during an action.
func (w *fixture) mostGoroutines(api *system.API, while func()) (most int) {
	w.t.Helper()
	ctx, done := context.WithCancel(w.t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for system.Rest(ctx, 200*time.Millisecond) {
			most = max(most, w.goroutines(api))
		}
	})
	while()
	done()
	watching.Wait()
	return most
}

// A machine that hangs accepts connections and packets, but its Postgres does not answer.
func TestPostgresHangs(t *testing.T) {
	w := newFixtureWithPostgres(t)
	api, worker := w.api("api"), w.worker("worker")
	t.Cleanup(func() { _ = w.Postgres.Resume() })
	w.hangs(api, []*system.Worker{worker}, w.Postgres.Pause, w.Postgres.Resume)
}

// A network that loses every packet reports no error: connections stay open, and new connections get no answer.
func TestPacketsAreSwallowed(t *testing.T) {
	w := newFixture(t)
	proxy, through := ledgertest.NewProxy(t, w.DatabaseURL("api"))
	behind, throughToo := ledgertest.NewProxy(t, w.DatabaseURL("worker"))
	api, worker := w.api("api", "--database-url="+through), w.worker("worker", "--database-url="+throughToo)
	w.hangs(api, []*system.Worker{worker},
		func() error { proxy.Swallow(); behind.Swallow(); return nil },
		func() error { proxy.Pass(); behind.Pass(); return nil })
}

// One process of Postgres hangs in a database transaction that has locked the money of a sandbox. Requests that need
// these locks are answered in time, at worst with 503. Other sandboxes work normally. When the process continues,
// everything continues.
func TestOneBackendHangs(t *testing.T) {
	w := newFixtureWithPostgres(t)
	api := w.api("api")
	worker := w.worker("worker")
	var seen, beside patience
	locked, neighbor := w.crowd(api, &seen), w.merchant("neighbor", api, system.Acknowledge)
	neighbor.Client.Observe = beside.see
	progress, stop := w.shopping(locked.Merchant, 2)
	defer stop()
	besideProgress, stopBeside := w.shopping(neighbor, 2)
	defer stopBeside()
	w.progresses(progress, 3)
	w.progresses(besideProgress, 3)

	resume := w.hangWithLocksOf(locked.Merchant)
	w.rush(locked)
	w.progresses(besideProgress, 10)
	payer, err := neighbor.AddPayer(t.Context(), 99, payments.Approve, 1_000_000)
	w.must(err)
	paid := w.pay(neighbor, system.NewPayment("beside", payer.MSISDN, "")).TransactionID()
	w.until(time.Minute, "a payment of another sandbox is settled", func(ctx context.Context) error {
		answer, err := neighbor.Client.Get(ctx, "/payments/"+paid)
		if err == nil && !strings.Contains(string(answer.Body), `"SUCCESS"`) {
			err = fmt.Errorf("answered %d %s", answer.Status, answer.Body)
		}
		return err
	})
	w.must(resume())

	w.progresses(progress, 3)
	w.progresses(besideProgress, 3)
	told, toldBeside := stop(), stopBeside()
	t.Logf("%d requests of the locked sandbox were answered, %d of them 503, the slowest after %s; %d of another one, the slowest after %s",
		seen.answered, seen.refused, seen.slowest.Round(time.Millisecond), beside.answered, beside.slowest.Round(time.Millisecond))
	if seen.refused == 0 {
		t.Error("nobody was answered 503: the test tested nothing")
	}
	if beside.refused > 0 {
		t.Errorf("%d requests of another sandbox were answered 503", beside.refused)
	}
	w.report(append(seen.wrong, beside.wrong...))
	toldBeside["beside"] = w.shown(neighbor, paid)
	maps.Copy(told, w.toldTheTruth(locked))
	w.booked(locked.Merchant, told)
	w.booked(neighbor, toldBeside)
	w.drained(locked.Merchant, neighbor)
	if !api.Running() || !worker.Running() {
		t.Error("a process ended")
	}
}

// shown is a payment as the API shows it to its merchant.
func (w *fixture) shown(m *system.Merchant, id string) (t system.Transaction) {
	w.t.Helper()
	answer, err := m.Client.InsistOnGet(w.t.Context(), "/payments/"+id)
	w.must(err)
	w.must(json.Unmarshal(answer.Body, &t))
	return t
}

// hangWithLocksOf freezes a process of Postgres in a database transaction that has locked a merchant's float and SIMs.
// It returns a function that ends the freeze.
func (w *fixture) hangWithLocksOf(m *system.Merchant) (resume func() error) {
	w.t.Helper()
	tx, err := w.SQL.Begin(w.t.Context())
	w.must(err)
	for _, query := range []string{ // in the lock order of the product
		"select from sims where tenant = $1 order by sim_id for update", "select from floats where tenant = $1 order by currency for update",
	} {
		locks, err := tx.Exec(w.t.Context(), query, m.Tenant)
		w.must(err)
		if locks.RowsAffected() == 0 {
			w.t.Fatalf("nothing is locked by %q", query)
		}
	}
	backend := system.Backend{PID: int(tx.Conn().PgConn().PID()), Kind: "client backend"}
	w.must(backend.Pause())
	resume = sync.OnceValue(func() error {
		if err := backend.Resume(); err != nil {
			return err
		}
		return tx.Rollback(context.WithoutCancel(w.t.Context()))
	})
	w.t.Cleanup(func() { _ = resume() }) // only necessary after a failure
	return resume
}
