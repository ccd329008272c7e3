package httpapi_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// What waits for the database, with little patience, is served when it can be; what comes later than that is refused at once.
func TestMoreThanCanBeServedIsRefusedAtOnce(t *testing.T) {
	f := newFixture(t)
	hasty, err := ledgertest.OpenWith(
		ledgertest.URLAs(t, f.db, ledgertest.API),
		ledgertest.Options{Options: postgres.Options{MaxQueueWait: 50 * time.Millisecond, MaxConns: 4}},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hasty.Close)
	busy := f.serve(func(o *fronts.Options) {
		o.Ledger, o.Sandboxes, o.Directory = hasty.Ledger, hasty.Registry, sandboxes.NewDirectory(hasty.DB)
	})
	busy.call("GET", "/v1/payments", nil) // makes the server look for the key
	conn := ledgertest.Connect(t, f.db)
	held, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "select from floats for update"); err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	var created, refused atomic.Int64
	pay := func(reference string) {
		got := busy.call("POST", "/v1/payments", payment(reference, object{"scenario": "success", "operator": "mtn", "country": "RW"}))
		switch {
		case got.status == http.StatusCreated:
			created.Add(1)
		case got.status == http.StatusServiceUnavailable && got.body["error"] == "overloaded" && got.header.Get("Retry-After") == "1":
			refused.Add(1)
		default:
			t.Errorf("answered %d: %s", got.status, got.raw)
		}
	}
	for i := range 2 { // the second waits behind the first
		calls.Go(func() { pay(fmt.Sprint("w", i)) })
		soon(t, "the first waits in the database", func() bool { return blocked(t, conn) == 1 })
	}
	later := 0
	soon(t, "somebody is refused, while the others wait", func() bool {
		later++
		reference := fmt.Sprint("r", later)
		calls.Go(func() { pay(reference) })
		return refused.Load() > 0
	})
	if created.Load() > 0 {
		t.Error("a payment is created though the float is locked")
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls.Wait()
	if n := int64(f.transactions()); n != created.Load() || n < 2 || n+refused.Load() != int64(2+later) {
		t.Errorf("%d are recorded, %d created and %d refused of %d", n, created.Load(), refused.Load(), 2+later)
	}
	f.conserved()
}

// blocked is how many statements wait for a lock.
func blocked(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	err := conn.QueryRow(t.Context(),
		"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Of requests that come twice at the same time, alike or not, each reference is booked once, with or without others.
func TestRepetitionsAmongWhatIsBookedTogether(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	success := object{"scenario": "success", "operator": "mtn", "country": "RW"}
	counts := f.atOnce(120, func(i int) response {
		reference := fmt.Sprint("r", i/3)
		if i%3 == 2 {
			return f.call("POST", "/v1/payments", payment(reference, success, object{"amount": 999}))
		}
		return f.call("POST", "/v1/payments", payment(reference, success))
	})
	if counts["201 SUCCESS"] != 40 || counts["201 SUCCESS"]+counts["200 SUCCESS"]+counts["409 duplicate_reference"] != 120 {
		t.Errorf("the answers are %v", counts)
	}
	counts = f.atOnce(60, func(i int) response {
		return f.disburse(disbursement(fmt.Sprint("d", i/2), object{"amount": 100}))
	})
	if diff := cmp.Diff(map[string]int{"200 SUCCESS": 60}, counts); diff != "" {
		t.Errorf("answers to disbursements (-want +got):\n%s", diff)
	}
	if n := f.transactions(); n != 70 {
		t.Errorf("%d are recorded, want 70", n)
	}
	f.conserved()
}
