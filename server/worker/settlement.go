package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// settleBatch is the number of transactions that one step settles, over all sandboxes. Many transactions share one
	// commit and one update of a hot float. The number is small enough that locks are held for milliseconds only. Each
	// sandbox gets an equal part, but at least settleLeast.
	settleBatch   = 500
	settleLeast   = 10
	settleTimeout = 30 * time.Second
	// settleAtOnce is the maximum number of concurrent database transactions that settle. Each settles about
	// 1/settleSpread of the due sandboxes, so that a hanging transaction does not stop the other sandboxes.
	settleAtOnce = 4
	settleSpread = 32
	// The pause after a query for the due sandboxes is settlePause times the duration of the query, at most
	// maxSettlePause. The duration grows with the number of sandboxes that have pending payments. So the pause bounds
	// the load of the database by these queries.
	settlePause    = 4
	maxSettlePause = 500 * time.Millisecond
)

// settlementDatabase has the methods of the database that the settlement needs.
type settlementDatabase interface {
	TenantsToSettle(ctx context.Context) ([]queues.DueTenant, error)
	SettleDue(ctx context.Context, tenants []queues.DueTenant, perTenant int) (ledger.BatchCounts, error)
}

// settlementSweep settles several sandboxes concurrently, so that one that fails or waits does not delay the others.
type settlementSweep struct {
	*Worker
	slots  chan struct{}
	events chan error // nil: a group has more due payments; otherwise the error of an unavailable database
	groups sync.WaitGroup

	mu   sync.Mutex
	busy map[int64]bool // tenants that this worker is settling
}

func (w *Worker) settleDue(ctx context.Context) {
	s := &settlementSweep{Worker: w, slots: make(chan struct{}, settleAtOnce), events: make(chan error, 1), busy: map[int64]bool{}}
	defer s.groups.Wait()
	w.sweep(ctx, "settlement", s.step)
}

// step starts the settlement of the due payments. It does not wait for the end of the settlement.
func (s *settlementSweep) step(ctx context.Context) (more bool, err error) {
	begun := s.now()
	due, err := s.markDueBusy(ctx)
	if err != nil {
		return false, err
	}
	took := s.now().Sub(begun)
	perTenant := min(max(settleBatch/max(len(due), 1), settleLeast), settleBatch)
	for group := range slices.Chunk(due, len(due)/settleSpread+1) {
		select {
		case <-ctx.Done():
			return false, nil
		case s.slots <- struct{}{}:
		}
		s.groups.Go(func() {
			more := s.settle(context.WithoutCancel(ctx), group, perTenant) // the end of ctx does not cancel it
			s.unmarkBusy(group)
			<-s.slots
			if more {
				s.report(nil)
			}
		})
	}
	return s.wait(ctx, min(max(settlePause*took, idlePause), maxSettlePause))
}

// markDueBusy lists the sandboxes with due payments that this worker is not settling yet, and marks them as busy.
func (s *settlementSweep) markDueBusy(ctx context.Context) ([]queues.DueTenant, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	due, err := s.database.TenantsToSettle(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	due = slices.DeleteFunc(due, func(tenant queues.DueTenant) bool { return s.busy[tenant.Tenant] })
	for _, tenant := range due {
		s.busy[tenant.Tenant] = true
	}
	return due, nil
}

func (s *settlementSweep) unmarkBusy(group []queues.DueTenant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tenant := range group {
		delete(s.busy, tenant.Tenant)
	}
}

// wait waits for the duration d, and then until the queue has rows, for at most listAtLeast. It returns earlier if a
// group of sandboxes has more due payments or the database is unavailable.
func (s *settlementSweep) wait(ctx context.Context, d time.Duration) (more bool, err error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	var inUse <-chan struct{} // nil until d is over
	for {
		select {
		case <-ctx.Done():
			return true, nil
		case <-timer.C:
			if inUse != nil {
				return true, nil
			}
			inUse = s.queues.settlements
			timer.Reset(listAtLeast)
		case <-inUse:
			return true, nil
		case err = <-s.events:
			return err == nil, err
		}
	}
}

// report wakes the sweep. It drops the event if another one is waiting.
func (s *settlementSweep) report(event error) {
	select {
	case s.events <- event:
	default:
	}
}

// settle settles the due payments of a group of sandboxes. If this fails, it settles each sandbox alone.
func (s *settlementSweep) settle(ctx context.Context, group []queues.DueTenant, perTenant int) (more bool) {
	traced, sweep := s.tracing.Sweep(ctx)
	var counts ledger.BatchCounts
	err := s.contained(traced, func() error {
		return within(traced, settleTimeout, func(ctx context.Context) (err error) {
			counts, err = s.database.SettleDue(ctx, group, perTenant)
			return err
		})
	})
	switch {
	case errors.Is(err, postgres.ErrUnavailable):
		s.report(err)
		return false
	case err != nil && len(group) > 1:
		for alone := range slices.Chunk(group, 1) {
			more = s.settle(ctx, alone, perTenant) || more
		}
		return more
	case err != nil:
		s.skipSandbox(ctx, "settlement", group[0], err)
		return false
	}
	s.resumeSandboxes(ctx, "settlement", group)
	if counts.Claimed > 0 {
		s.metrics.Batch(counts.Parked)
		sweep.Found(ctx, "settlement", attribute.Int("cauri.transactions", counts.Claimed), attribute.Int("cauri.parked", counts.Parked))
		s.log.DebugContext(ctx, "settled", "transactions", counts.Claimed-counts.Parked, "parked", counts.Parked)
	}
	return counts.More
}
