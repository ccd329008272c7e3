package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// queueStatistics is what waits, with ages in whole seconds.
func (w *fixture) queueStatistics() queues.Statistics {
	w.T.Helper()
	found, err := ledgertest.OpenAs(w.T, w.URL, ledgertest.Worker).QueueStatistics(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	for _, q := range []*queues.Queue{&found.Settlements, &found.Forwards, &found.Events, &found.Callbacks} {
		q.Oldest = q.Oldest.Truncate(time.Minute)
	}
	return found
}

func TestQueueStatistics(t *testing.T) {
	w := newFixture(t)
	if diff := cmp.Diff(queues.Statistics{}, w.queueStatistics()); diff != "" {
		t.Errorf("of nothing (-want +got):\n%s", diff)
	}
	w.Client("alice", alice, 1_000_000)
	w.Multiply(w.Pending("r", alice), 9)
	other := w.beside("other")
	other.Client("alice", alice, 1_000_000)
	other.Multiply(other.Pending("r", alice), 1)
	w.Create(w.Collection("told", payments.Success, alice))
	w.Exec("update transactions set due_at = now() - interval '90 seconds' where due_at is not null and tenant = $1", w.Sandbox.Tenant)
	other.Exec("update transactions set due_at = now() - interval '5 minutes' where tenant = $1", other.Sandbox.Tenant)
	w.Exec("update transactions set due_at = now() + interval '1 hour' where reference = 'r-1'")
	w.Exec("update events set due_at = now() - interval '2 minutes'")
	for _, reference := range []string{"late", "taken", "later"} {
		w.asked(reference, "http://127.0.0.1:1/"+reference)
	}
	w.Exec("update events set due_at = null, state = 'recorded' where due_at > now() - interval '1 minute'")
	w.Exec("update native_callbacks set due_at = now() - interval '3 minutes'")
	w.Exec("update native_callbacks set due_at = now() + interval '1 hour' where url like '%/later'")
	w.Exec("update native_callbacks set due_at = now() - interval '1 hour', leased_until = now() + interval '1 minute' where url like '%/taken'")
	both := queues.Statistics{
		Settlements: queues.Queue{
			Due:       10,
			Sandboxes: 2,
			Oldest:    5 * time.Minute,
		},
		Events:    queues.Queue{Due: 1, Sandboxes: 1, Oldest: 2 * time.Minute},
		Callbacks: queues.Queue{Due: 1, Sandboxes: 1, Oldest: 3 * time.Minute},
	}
	if diff := cmp.Diff(both, w.queueStatistics()); diff != "" {
		t.Errorf("of two sandboxes (-want +got):\n%s", diff)
	}
	w.Exec("update transactions set passthrough = true, forward_fence = 0, forward_failures = 0 where reference = 'r-2'")
	other.Exec("update organizations set suspended = true where tenant = $1", other.Sandbox.Tenant)
	w.Exec("insert into endpoint_health (tenant, probe_at) values ($1, now())", w.Sandbox.Tenant)
	w.Exec(`insert into console_sessions (org_id, hash, session_id, made_with, role, expires_at)
		select org_id, sha256(ends::text::bytea), 'one', '', 'full', now() + ends
		from organizations, unnest(array['-1 second', '1 minute', '8 hours']::interval[]) ends`)
	w.Exec("insert into sweep_failures (tenant, sweep, retry_at, error) values ($1, 'callbacks', now(), 'bad')", w.Sandbox.Tenant)
	fewer := queues.Statistics{
		Settlements: queues.Queue{Due: 8, Sandboxes: 1, Oldest: time.Minute}, Forwards: queues.Queue{Due: 1, Sandboxes: 1, Oldest: time.Minute},
		FailingEndpoints: 1, ConsoleSessions: 4,
	}
	if diff := cmp.Diff(fewer, w.queueStatistics()); diff != "" {
		t.Errorf("without the suspended and the failing (-want +got):\n%s", diff)
	}
}

// How late a payment is settled is told by the database's clock, whatever this process's says.
func TestSettlementsAreToldWithTheirLag(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 1000)
	w.Client("bob", bob, 1000, behaves(payments.Manual))
	for reference, msisdn := range map[string]string{"paid": alice, "poor": alice, "parked": bob} {
		w.Pending(reference, msisdn)
	}
	w.Exec("update transactions set due_at = now() - interval '90 seconds' where reference = 'paid'")
	w.Exec("update transactions set due_at = now() - interval '30 seconds' where reference <> 'paid'")
	told := map[payments.Status]time.Duration{}
	s := w.Opened(ledgertest.Options{
		Options:   postgres.Options{Now: func() time.Time { return time.Now().Add(5 * time.Minute) }},
		OnSettled: func(status payments.Status, lag *time.Duration) { told[status] = lag.Truncate(30 * time.Second) },
	})
	if _, err := ledgertest.SettleDue(t.Context(), s, 10); err != nil {
		t.Fatal(err)
	}
	want := map[payments.Status]time.Duration{payments.Success: 90 * time.Second, payments.InsufficientFunds: 30 * time.Second}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
