package ledger_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

const month = 30 * 24 * time.Hour

// aged makes transactions, events and attempts older, with their ids, which hold the time too.
func (w *fixture) aged(by time.Duration, ids ...payments.ID) {
	w.T.Helper()
	for _, id := range ids {
		var micros int64
		for _, b := range id[:7] {
			micros = micros<<8 | int64(b)
		}
		old := id
		for i, past := 6, micros-by.Microseconds(); i >= 0; i, past = i-1, past>>8 {
			old[i] = byte(past)
		}
		w.Exec("update transactions set id = $2 where id = $1", postgres.UUID(id), postgres.UUID(old))
		w.Exec("update events set id = $2, created_at = created_at - $3::interval where id = $1", postgres.UUID(id), postgres.UUID(old), by)
		w.Exec("update delivery_attempts set event_id = $2 where event_id = $1", postgres.UUID(id), postgres.UUID(old))
		w.Exec("update native_callbacks set id = $2, transaction_id = $2 where id = $1", postgres.UUID(id), postgres.UUID(old))
		w.Exec("update native_requests set id = $2 where id = $1", postgres.UUID(id), postgres.UUID(old))
		w.Exec("update callback_attempts set id = $2 where id = $1", postgres.UUID(id), postgres.UUID(old))
	}
}

func (w *fixture) removeAged() int64 {
	w.T.Helper()
	removed, err := w.RemoveAged(w.T.Context(), month)
	if err != nil {
		w.T.Fatal(err)
	}
	return removed
}

func TestOldEventsAreRemovedAndNothingElse(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	delivered, failed, waits := w.attempted(
		"old delivered",
		acknowledged,
	), w.attempted(
		"old failed",
		refusedForev,
	), w.attempted(
		"old queued",
		refusedOnce,
	)
	young := w.attempted("young", acknowledged)
	w.aged(month+time.Minute, delivered, failed, waits)
	w.aged(month-time.Minute, young)
	w.Exec("insert into native_requests (tenant, id, operation, sent) select tenant, id, 'requesttopay', '{}' from transactions")
	foreign := other.Create(other.Collection("r", payments.Success, alice)).ID
	other.Exec("update events set state = 'recorded', due_at = null where tenant = $1", other.Sandbox.Tenant)
	other.aged(2*month, foreign)

	if got := w.removeAged(); got != 3 {
		t.Errorf("%d events were removed, want 3", got)
	}
	left := read[[]string](
		w,
		"select array_agg(t.reference || ' ' || e.state order by t.reference) from events e join transactions t using (tenant, id)",
	)
	if diff := cmp.Diff([]string{"old queued queued", "young delivered"}, left); diff != "" {
		t.Errorf("events (-want +left):\n%s", diff)
	}
	asked := read[[]string](
		w,
		"select array_agg(t.reference order by t.reference) from native_requests n join transactions t using (tenant, id)",
	)
	if diff := cmp.Diff([]string{"old queued", "young"}, asked); diff != "" {
		t.Errorf("requests of operators' own APIs (-want +left):\n%s", diff)
	}
	if n := w.Count("select count(*) from delivery_attempts"); n != 2 {
		t.Errorf("%d attempts are left, want those of the two events", n)
	}
	if n := w.Count("select count(*) from transactions"); n != 5 {
		t.Errorf("%d transactions are left of 5", n)
	}
	w.counts()
	if got := w.removeAged(); got != 0 {
		t.Errorf("%d more were removed", got)
	}
}

// An event stays until the callback of its transaction was sent too. Then both go, with their attempts.
func TestOldCallbacksAreRemovedWithTheirEvents(t *testing.T) {
	w := newFixture(t)
	for _, reference := range []string{"sent", "waits", "leased", "young"} {
		w.asked(reference, "http://127.0.0.1:1/"+reference)
		w.Finish(w.leaseOne(ledgertest.Body()), acknowledged)
		if c := w.leaseCallbacks(1); reference == "sent" || reference == "young" {
			w.finishCallback(&c[0], acknowledged)
		}
	}
	w.Exec("update native_callbacks set leased_until = null where url like '%/waits'")
	for _, reference := range []string{"sent", "waits", "leased"} {
		id := read[pgtype.UUID](w, "select id from transactions where reference = $1", reference)
		w.aged(month+time.Minute, id.Bytes)
	}
	left := func(want ...string) {
		t.Helper()
		for _, table := range []string{"events", "native_requests", "native_callbacks"} {
			got := read[[]string](w, "select array_agg(t.reference order by t.reference) from "+table+" join transactions t using (tenant, id)")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +left):\n%s", table, diff)
			}
		}
	}
	if got := w.removeAged(); got != 1 {
		t.Errorf("%d events were removed, want 1", got)
	}
	left("leased", "waits", "young")
	if n := w.Count("select count(*) from callback_attempts"); n != 1 {
		t.Errorf("%d attempts at callbacks are left, want the one of the young", n)
	}
	w.Exec("update native_callbacks set leased_until = now()")
	for _, c := range w.leaseCallbacks(2) {
		w.finishCallback(&c, refusedForev)
	}
	if got := w.removeAged(); got != 2 {
		t.Errorf("%d events were removed, want 2", got)
	}
	left("young")
	if n := w.Count("select count(*) from callback_attempts"); n != 1 {
		t.Errorf("%d attempts at callbacks are left, want the one of the young", n)
	}
}

// Old events that stay do not hold up those behind them, however many they are, and many workers remove each once.
func TestManyOldEventsAreRemovedByManyWorkers(t *testing.T) {
	w := newFixture(t)
	id := w.attempted("r", acknowledged)
	w.aged(2*month, id)
	// 2,500 that stay stand before 2,500 that go; one fewer where the first event happens to have a number of theirs.
	w.Exec(`insert into events (tenant, id, state, due_at, created_at)
		select e.tenant, (substr(e.id::text, 1, 14) || lpad(to_hex(i), 4, '0') || substr(e.id::text, 19))::uuid,
		  case when i <= 2500 then 'queued' else 'delivered' end::event_state, case when i <= 2500 then now() end, e.created_at
		from events e, generate_series(1, 5000) i where lpad(to_hex(i), 4, '0') <> substr(e.id::text, 15, 4)`)
	w.Exec("update endpoint_health set delivered = (select count(*) from events where state = 'delivered')")
	w.Exec("delete from transactions")
	want := int64(w.Count("select count(*) from events where state = 'delivered'"))
	queued := w.Count("select count(*) from events where state = 'queued'")
	var mu sync.Mutex
	var removed int64
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			n, err := w.RemoveAged(context.Background(), month)
			mu.Lock()
			defer mu.Unlock()
			if removed += n; err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	removed += w.removeAged() // what one of them left to another that had it locked
	if left := w.Count("select count(*) from events where state = 'delivered'"); removed != want || left != 0 {
		t.Errorf("%d were removed of %d, %d are left", removed, want, left)
	}
	if n := w.Count("select count(*) from events where state = 'queued'"); n != queued || queued < 2499 {
		t.Errorf("%d of %d that are still to be sent are left", n, queued)
	}
	w.counts()
}

// An event that somebody works on is left, and nobody waits for it.
func TestRetentionDoesNotWait(t *testing.T) {
	w := newFixture(t)
	held, free := w.attempted("held", acknowledged), w.attempted("free", acknowledged)
	w.aged(2*month, held, free)
	tx, err := w.SQL.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(
		t.Context(),
		"select from events e join transactions t using (tenant, id) where t.reference = 'held' for update of e",
	); err != nil {
		t.Fatal(err)
	}
	if got := w.removeAged(); got != 1 {
		t.Errorf("%d were removed, want 1", got)
	}
}

func TestRetentionStopsWhenItIsToldTo(t *testing.T) {
	w := newFixture(t)
	w.aged(2*month, w.attempted("r", acknowledged))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.RemoveAged(ctx, month); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := w.Count("select count(*) from events"); n != 1 {
		t.Error("the event is gone")
	}
}

func TestWhatWasRetainedIsNotRemoved(t *testing.T) {
	w := newFixture(t)
	w.aged(2*month, w.attempted("r", acknowledged))
	w.Exec("update organizations set retained_at = now()")
	if got := w.removeAged(); got != 0 {
		t.Errorf("%d events of a sandbox that was retained were removed", got)
	}
}

func TestWhatIsSpentIsRemoved(t *testing.T) {
	w := newFixture(t)
	w.Busy()
	w.Exec("insert into quota_usage (tenant, month, used) values ($1, date_trunc('month', now())::date, 1)", w.Sandbox.Tenant)
	w.Exec("update quota_usage set month = '2020-01-01' where month = '2026-05-01'")
	w.Exec("insert into rate_usage (tenant, second, granted) values ($1, extract(epoch from now())::bigint, 1)", w.Sandbox.Tenant)
	if err := w.RemoveOldUsage(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"quota_usage", "rate_usage"} {
		if n := w.Count("select count(*) from " + table); n != 1 {
			t.Errorf("%d rows are left in %s, want the one that is of use", n, table)
		}
	}
}
