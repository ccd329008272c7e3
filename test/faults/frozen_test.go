package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// A machine that swaps or is migrated stops its processes at any point, at worst in a database transaction with all its
// locks, and continues them later as if nothing had happened.
func TestWorkerFrozenInATransaction(t *testing.T) {
	const backlog = 4000
	w := newFixture(t)
	api := w.api("api")
	m := w.merchant("hot", api, system.Acknowledge)
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1_000_000_000)
	w.must(err)
	w.pay(m, system.NewPayment("model", payer.MSISDN, ""))
	frozen := w.worker("frozen")
	rounds := w.freezeInTransaction(frozen, m, backlog)
	began := time.Now()
	w.worker("other")
	w.until(time.Minute, "payments are booked on the float that the frozen worker has locked", func(ctx context.Context) error {
		answer, err := m.Client.Post(ctx, "/payments", system.NewPayment("meanwhile", payer.MSISDN, "success"))
		if err == nil && answer.Status/100 != 2 {
			err = fmt.Errorf("answered %d", answer.Status)
			if answer.Status != http.StatusServiceUnavailable {
				t.Error(err)
			}
		}
		return err
	})
	t.Logf("a payment was booked %s after the worker froze", time.Since(began).Round(time.Millisecond))
	w.until(time.Minute, "the other worker settles what was due", func(ctx context.Context) error {
		pending, err := m.Pending(ctx)
		if err == nil && pending > 0 {
			err = fmt.Errorf("%d are pending", pending)
		}
		return err
	})
	w.must(frozen.Resume())
	w.drained(m)
	w.until(time.Minute, "the worker that was frozen is ready again", frozen.Ready)
	successes, err := w.Count(t.Context(), "select count(*) from transactions where tenant = $1 and status = 'SUCCESS'", m.Tenant)
	w.must(err)
	if want := int64(1 + rounds*backlog + 1); successes != want {
		t.Errorf("%d payments succeeded, want %d", successes, want)
	}
}

// freezeInTransaction freezes a worker between two statements of a settlement, which needs some attempts. It returns
// the number of backlogs that it created.
func (w *fixture) freezeInTransaction(worker *system.Worker, m *system.Merchant, backlog int) (rounds int) {
	w.t.Helper()
	w.until(5*time.Minute, "the worker is frozen in a transaction", func(ctx context.Context) error {
		if pending, err := m.Pending(ctx); err != nil || pending == 0 {
			w.must(m.PendingBacklog(ctx, "model", backlog))
			rounds++
		}
		w.must(worker.Pause())
		system.Rest(ctx, 100*time.Millisecond) // wait for the end of its current statement
		holding, err := w.Count(ctx, `select count(*) from pg_stat_activity a where datname = current_database()
			and usename = 'test_worker' and state = 'idle in transaction'
			and exists (select from pg_locks l where l.pid = a.pid and l.mode = 'RowShareLock' and l.relation = 'sims'::regclass)`)
		if err == nil && holding > 0 {
			return nil
		}
		w.must(worker.Resume())
		system.Rest(ctx, 5*time.Millisecond)
		return errors.Join(err, errors.New("it was between two"))
	})
	return rounds
}
