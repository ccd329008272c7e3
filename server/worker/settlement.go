package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/store"
)

const (
	// settleBatch is how many transactions are settled of all sandboxes in turn: enough to share the commit and the update of a hot
	// float, few enough that their locks are held for milliseconds. Each sandbox has its share, settleLeast at least.
	settleBatch   = 500
	settleLeast   = 10
	settleTimeout = 30 * time.Second
	// settleAtOnce is how many database transactions settle at one time. None of them holds more than a settleSpread-th of the
	// sandboxes that have something due, so that one which stands still leaves the others to be settled.
	settleAtOnce = 4
	settleSpread = 32
	// settleRest is how long the settlement rests for the time that a look took, at most settleRestMost: looking for what is due
	// takes time for every sandbox that has something pending, and may not keep the database busy when there are very many.
	settleRest     = 4
	settleRestMost = 500 * time.Millisecond
)

// settlementDatabase is what the settlement needs of the database.
type settlementDatabase interface {
	SettlementLanes(ctx context.Context) ([]store.Lane, error)
	SettleDue(ctx context.Context, due []store.Lane, share int) (store.Settled, error)
}

// settlement settles what is due, side by side for several sandboxes: one that fails, or has to wait, holds up no other.
type settlement struct {
	*Worker
	slots  chan struct{}
	news   chan error // of what was settled: nil if there is more, or why the database could not be asked
	groups sync.WaitGroup

	mu   sync.Mutex
	busy map[int64]bool // tenants
}

func (w *Worker) settleDue(ctx context.Context) {
	s := &settlement{Worker: w, slots: make(chan struct{}, settleAtOnce), news: make(chan error, 1), busy: map[int64]bool{}}
	defer s.groups.Wait()
	w.sweep(ctx, "settlement", s.step)
}

// step has settled what is due at this moment. It does not wait for the end of that.
func (s *settlement) step(ctx context.Context) (more bool, err error) {
	begun := s.now()
	due, err := s.look(ctx)
	if err != nil {
		return false, err
	}
	took := s.now().Sub(begun)
	share := min(max(settleBatch/max(len(due), 1), settleLeast), settleBatch)
	for group := range slices.Chunk(due, len(due)/settleSpread+1) {
		select {
		case <-ctx.Done():
			return false, nil
		case s.slots <- struct{}{}:
		}
		s.groups.Go(func() {
			more := s.settle(context.WithoutCancel(ctx), group, share) // what has begun is finished
			s.leave(group)
			<-s.slots
			if more {
				s.tell(nil)
			}
		})
	}
	return s.rest(ctx, min(max(settleRest*took, idle), settleRestMost))
}

// look finds the sandboxes that have something due and are not being settled, and takes them.
func (s *settlement) look(ctx context.Context) ([]store.Lane, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	due, err := s.database.SettlementLanes(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	due = slices.DeleteFunc(due, func(tenant store.Lane) bool { return s.busy[tenant.Tenant] })
	for _, tenant := range due {
		s.busy[tenant.Tenant] = true
	}
	return due, nil
}

func (s *settlement) leave(group []store.Lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tenant := range group {
		delete(s.busy, tenant.Tenant)
	}
}

// rest rests until a group of sandboxes is known to have more, or the database to be away.
func (s *settlement) rest(ctx context.Context, d time.Duration) (more bool, err error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case err = <-s.news:
	}
	return err == nil, err
}

// tell leaves news for the sweep, unless there are some already.
func (s *settlement) tell(news error) {
	select {
	case s.news <- news:
	default:
	}
}

// settle settles what is due of a group of sandboxes. Where that fails, each of them is settled alone.
func (s *settlement) settle(ctx context.Context, group []store.Lane, share int) (more bool) {
	traced, sweep := s.tracing.Sweep(ctx)
	var counts store.Settled
	err := s.contained(traced, func() error {
		return within(traced, settleTimeout, func(ctx context.Context) (err error) {
			counts, err = s.database.SettleDue(ctx, group, share)
			return err
		})
	})
	switch {
	case errors.Is(err, postgres.ErrUnavailable):
		s.tell(err)
		return false
	case err != nil && len(group) > 1:
		for alone := range slices.Chunk(group, 1) {
			more = s.settle(ctx, alone, share) || more
		}
		return more
	case err != nil:
		s.leaveOut(ctx, "settlement", group[0], err)
		return false
	}
	s.takeIn(ctx, "settlement", group)
	if counts.Claimed > 0 {
		s.metrics.Batch(counts.Parked)
		sweep.Found(ctx, "settlement", attribute.Int("cauri.transactions", counts.Claimed), attribute.Int("cauri.parked", counts.Parked))
		s.log.DebugContext(ctx, "settled", "transactions", counts.Claimed-counts.Parked, "parked", counts.Parked)
	}
	return counts.More
}
