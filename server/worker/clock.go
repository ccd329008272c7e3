package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/telemetry"
)

const (
	// clocksAtOnce is the maximum number of clocks that a worker advances at a time. It is high because most advances
	// wait for attempts. If other clocks wait for a slot, an advance yields its slot after clockTurn.
	clocksAtOnce = 1000
	clockTurn    = time.Second
	// clockStatements bounds the concurrent statements of advances in their first clockTurn. The same bound applies
	// separately to longer advances, so a short advance does not wait for many long ones.
	clockStatements = 8
	// clockLease is the duration of a clock's lease. The worker renews the lease. The duration is short, so that
	// another worker soon continues the clock of a worker that died. During attempts, the lease is as long as the
	// leases of the rows, because the clock cannot move before the row leases expire.
	clockLease = 5 * time.Second
	// clockPause is the first pause of an advance that waits for rows held by another worker. Pauses grow up to
	// maxClockPause.
	clockPause    = 10 * time.Millisecond
	maxClockPause = time.Second
	// clockStrides bounds how often an advance stops for rows that are recorded during the advance. Without the bound,
	// the clock might never reach its target. An advance always stops for rows that were recorded before it began.
	clockStrides = 100
)

// clockDatabase has the methods of the database that only the advance of clocks needs. An advance also uses the methods
// of settlement, forwarding and delivery.
type clockDatabase interface {
	ClocksToAdvance(ctx context.Context, batch int) ([]queues.DueTenant, error)
	LeaseClock(ctx context.Context, tenant int64, lease time.Duration) (clocks.Lease, error)
	RenewClockLease(ctx context.Context, c clocks.Lease, lease time.Duration) error
	ReleaseClock(ctx context.Context, c clocks.Lease, done clocks.AdvanceCounts) error
	ViewClock(ctx context.Context, c clocks.Lease, started, arrived time.Time) (clocks.View, error)
	MoveClock(ctx context.Context, c clocks.Lease, moment time.Time, done clocks.AdvanceCounts) (now time.Time, err error)
	EndAdvance(ctx context.Context, c clocks.Lease, reached bool, done clocks.AdvanceCounts) error
}

// clockSweep advances the clocks of several sandboxes concurrently.
type clockSweep struct {
	*Worker
	slots       chan struct{} // semaphore: clocks that are being advanced
	short, long chan struct{} // semaphores: statements of advances in their first clockTurn, and of longer advances
	crowded     atomic.Bool   // whether a clock waits for a slot
	advances    sync.WaitGroup
}

// advanceClocks advances the clocks of sandboxes until ctx ends.
func (w *Worker) advanceClocks(ctx context.Context) {
	s := &clockSweep{
		Worker: w, slots: make(chan struct{}, w.clocks), short: make(chan struct{}, clockStatements), long: make(chan struct{}, clockStatements),
	}
	defer s.advances.Wait()
	w.sweep(ctx, "clock", s.step)
}

func (s *clockSweep) step(ctx context.Context) (more bool, err error) {
	select {
	case <-ctx.Done():
		return false, nil
	case <-s.queues.clocks:
	}
	free := cap(s.slots) - len(s.slots)
	var waiting []queues.DueTenant
	err = within(ctx, leaseTimeout, func(ctx context.Context) (err error) {
		waiting, err = s.database.ClocksToAdvance(ctx, max(free, 1))
		return err
	})
	s.crowded.Store(free == 0 && len(waiting) > 0)
	for _, sandbox := range waiting[:min(free, len(waiting))] {
		s.slots <- struct{}{}
		s.advances.Go(func() {
			s.advanceClock(ctx, sandbox)
			<-s.slots
		})
	}
	return false, err
}

// advanceClock advances the clock of a sandbox to its target, unless another worker holds its lease.
func (s *clockSweep) advanceClock(ctx context.Context, sandbox queues.DueTenant) {
	err := s.contained(ctx, func() error {
		a := s.newAdvance()
		if err := a.takeLease(ctx, sandbox.Tenant); err != nil {
			return err
		}
		return a.run(ctx)
	})
	switch {
	case err == nil:
		s.resumeSandboxes(ctx, "clock", []queues.DueTenant{sandbox})
	case errors.Is(err, clocks.ErrClockLeaseLost), ctx.Err() != nil:
	case errors.Is(err, postgres.ErrUnavailable):
		s.log.WarnContext(ctx, "the advance of a clock was interrupted; it goes on when its lease ends", "tenant", sandbox.Tenant, "error", err)
	default:
		s.skipSandbox(ctx, "clock", sandbox, err)
	}
}

// advance is the advance of one clock. It sets the clock to the next moment at which something is due, does the due
// work, and repeats this until the target. The code of the sweeps does the work. The sweeps skip the sandbox during an
// advance. Before each statement, an advance waits in turn with other advances for a statement slot. For attempt slots,
// it waits in turn with the sweeps. While it waits, it holds no slots.
type advance struct {
	*Worker    // its database is the field done below
	shared     *clockSweep
	lease      clocks.Lease
	taken      time.Time // when the lease was taken, by the worker's clock
	makesRoom  bool      // whether the advance yields its slot to another clock
	began      time.Time // sandbox time at which the lease was taken
	arrived    time.Time // sandbox time after the last move
	stride     time.Duration
	pause      time.Duration // last wait for rows that another worker holds; 0 after work was done
	attempting atomic.Bool
	done       *counting
}

func (s *clockSweep) newAdvance() *advance {
	done := &counting{Database: s.database}
	return &advance{Worker: s.on(done), shared: s, taken: s.now(), done: done}
}

// query waits for a statement slot and calls f, which sends one statement. The context of f ends after limit.
func (a *advance) query(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	turns := a.shared.short
	if a.now().Sub(a.taken) >= clockTurn {
		turns = a.shared.long
	}
	turns <- struct{}{}
	defer func() { <-turns }()
	return within(ctx, limit, f)
}

// takeLease takes the lease of the clock. It returns [clocks.ErrClockLeaseLost] if another worker holds it.
func (a *advance) takeLease(ctx context.Context, tenant int64) error {
	err := a.query(ctx, leaseTimeout, func(ctx context.Context) (err error) {
		a.lease, err = a.database.LeaseClock(ctx, tenant, clockLease)
		return err
	})
	a.began, a.arrived, a.stride = a.lease.Now, a.lease.Now, a.lease.Target.Sub(a.lease.Now)/clockStrides
	return err
}

// run advances the clock until the clock reaches its target, the advance yields its slot, or ctx ends. Then it finishes
// the attempts that have started, and any worker may continue.
func (a *advance) run(ctx context.Context) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	held, release := context.WithCancel(ctx)
	defer release()
	beside.Go(func() { a.keepLease(held, release) })
	for held.Err() == nil && !a.makesRoom {
		ended, err := a.step(held)
		if ended || err != nil {
			return err
		}
	}
	if ctx.Err() == nil && !a.makesRoom {
		return clocks.ErrClockLeaseLost
	}
	release()
	beside.Wait() // keepLease must not renew the lease after its release
	return a.query(context.WithoutCancel(ctx), leaseTimeout, func(ctx context.Context) error {
		return a.database.ReleaseClock(ctx, a.lease, a.done.taken())
	})
}

// keepLease renews the lease until ctx ends. It calls the function lost if another worker has taken the lease.
func (a *advance) keepLease(ctx context.Context, lost func()) {
	for length := clockLease; ; {
		if sleep(ctx, length/4); ctx.Err() != nil {
			return
		}
		if length = clockLease; a.attempting.Load() {
			length = lease
		}
		err := within(ctx, leaseTimeout, func(ctx context.Context) error { return a.database.RenewClockLease(ctx, a.lease, length) })
		if errors.Is(err, clocks.ErrClockLeaseLost) {
			lost()
		}
	}
}

// step does the work that is due. If nothing is due, it moves the clock to the next moment. When the context held ends,
// step finishes the work that has started.
func (a *advance) step(held context.Context) (ended bool, err error) {
	ctx := context.WithoutCancel(held)
	view, err := a.viewClock(ctx)
	switch {
	case err != nil:
		return false, err
	case view.Suspended:
		return true, a.endAdvance(ctx, false)
	case view.RecordedByArrival.Held:
		a.pauseForOthers(held)
		return false, nil
	case dueBy(view.RecordedByArrival.At(), view.Now):
		return false, a.doDue(held, view)
	case !view.Now.Before(a.lease.Target):
		return true, a.endAdvance(ctx, true)
	}
	err = a.moveClock(ctx, a.nextMoment(view)) // before it yields: each turn moves the clock
	a.makesRoom = err == nil && a.now().Sub(a.taken) >= clockTurn && a.shared.crowded.CompareAndSwap(true, false)
	return false, err
}

// pauseForOthers waits for another worker that holds the due rows. Each consecutive wait is twice as long, up to
// maxClockPause.
func (a *advance) pauseForOthers(ctx context.Context) {
	a.pause = min(max(2*a.pause, clockPause), maxClockPause)
	sleep(ctx, a.pause)
}

// viewClock returns the clock's time and when rows are due. It does not wait for row locks of other workers.
func (a *advance) viewClock(ctx context.Context) (view clocks.View, err error) {
	err = a.query(ctx, leaseTimeout, func(ctx context.Context) error {
		view, err = a.database.ViewClock(ctx, a.lease, a.began, a.arrived)
		return err
	})
	return view, err
}

// nextMoment returns the next sandbox time at which something is due, at most the target. For rows that were recorded
// during the advance, the time is at least one stride away.
func (a *advance) nextMoment(view clocks.View) time.Time {
	next := a.lease.Target
	if at := view.RecordedByStart.At(); at != nil && at.Before(next) {
		next = *at
	}
	if at := view.Recorded.At(); at != nil {
		soonest := view.Now.Add(a.stride)
		if at.After(soonest) {
			soonest = *at
		}
		if soonest.Before(next) {
			next = soonest
		}
	}
	return next
}

// moveClock moves the clock to a moment of sandbox time. It also records the counts of work since the last move.
func (a *advance) moveClock(ctx context.Context, moment time.Time) error {
	a.pause = 0
	return a.query(ctx, leaseTimeout, func(ctx context.Context) (err error) {
		a.arrived, err = a.database.MoveClock(ctx, a.lease, moment, a.done.taken())
		return err
	})
}

// endAdvance ends the advance for the callers that wait for it. reached is whether the clock reached its target.
func (a *advance) endAdvance(ctx context.Context, reached bool) error {
	err := a.query(ctx, leaseTimeout, func(ctx context.Context) error {
		return a.database.EndAdvance(ctx, a.lease, reached, a.done.taken())
	})
	switch {
	case err != nil:
	case reached:
		a.metrics.Advanced(telemetry.AdvanceReached)
	default:
		a.metrics.Advanced(telemetry.AdvanceStopped)
	}
	return err
}

// doDue does one batch of each kind of due work, or waits if another worker holds all due rows.
func (a *advance) doDue(held context.Context, view clocks.View) error {
	found, due := 0, view.RecordedByArrival
	for _, part := range []struct {
		due *time.Time
		do  func(context.Context, clocks.View) (found int, err error)
	}{
		{due.SettleAt, a.settleDueBatch}, {due.ForwardAt, a.forwardDue}, {due.DeliverAt, a.deliverDue},
		{due.CallBackAt, a.callBackDue},
	} {
		if !dueBy(part.due, view.Now) {
			continue
		}
		n, err := part.do(held, view)
		if err != nil {
			return err
		}
		found += n
	}
	if found == 0 { // another worker holds the due rows
		a.pauseForOthers(held)
	} else {
		a.pause = 0
	}
	return nil
}

func (a *advance) settleDueBatch(held context.Context, _ clocks.View) (found int, err error) {
	err = a.query(context.WithoutCancel(held), settleTimeout, func(ctx context.Context) error {
		counts, err := a.database.SettleDue(ctx, []queues.DueTenant{{Tenant: a.lease.Tenant}}, settleBatch)
		found = counts.Claimed
		return err
	})
	return found, err
}

func (a *advance) forwardDue(held context.Context, _ clocks.View) (found int, err error) {
	_, found, err = attemptDue(held, a, a.forwarding, false,
		func(ctx context.Context, grants []queues.SlotGrant) ([]ledger.Forward, map[int64]int, error) {
			return a.database.LeaseDueForwards(ctx, grants, forwardLease)
		}, a.forwardOne)
	return found, err
}

func (a *advance) callBackDue(held context.Context, _ clocks.View) (found int, err error) {
	_, found, err = attemptDue(held, a, a.callingBack, false,
		func(ctx context.Context, grants []queues.SlotGrant) ([]ledger.LeasedCallback, map[int64]int, error) {
			return a.database.LeaseDueCallbacks(ctx, grants, lease, operators.CallbackBody)
		}, a.callBackOne)
	return found, err
}

func (a *advance) deliverDue(held context.Context, view clocks.View) (found int, err error) {
	sending := &delivery{Worker: a.Worker, results: resultWriter{a.Worker, make(chan result, a.perSandbox)}}
	defer close(sending.results.queue)
	go sending.results.run(context.WithoutCancel(held))
	leased, found, err := attemptDue(held, a, a.delivering, view.Paused, sending.leaseEvents, sending.attempt)
	for i := range leased {
		if leased[i].Problem != nil && err == nil {
			err = leased[i].Problem // the clock must not move past an event that is not sent
		}
	}
	return found, err
}

// attemptDue waits for slots, leases one row of the sandbox for each slot, and makes the attempts concurrently. It
// returns after the results are recorded. If held ends before a slot is free, attemptDue returns no rows and no error.
func attemptDue[T any](
	held context.Context, a *advance, queue *fairQueue, probe bool,
	leaseDue func(context.Context, []queues.SlotGrant) (leased []T, found map[int64]int, err error),
	attempt func(context.Context, *T) (end attemptEnd, record func()),
) (leased []T, found int, err error) {
	tenant := a.lease.Tenant
	a.attempting.Store(true)
	defer a.attempting.Store(false)
	grants := []queues.SlotGrant{queue.ask(held, queues.DueTenant{Tenant: tenant, Probe: probe})}
	if grants[0].Slots == 0 {
		return nil, 0, nil
	}
	ctx := context.WithoutCancel(held)
	var all map[int64]int
	err = a.contained(ctx, func() error {
		return a.query(ctx, leaseTimeout, func(ctx context.Context) (err error) {
			leased, all, err = leaseDue(ctx, grants)
			return err
		})
	})
	queue.leased(grants, all, map[int64]int{tenant: len(leased)})
	queue.wake() // other tenants may use the slots that are left
	var attempts sync.WaitGroup
	for i := range leased {
		attempts.Go(func() { attemptRow(ctx, a.Worker, queue, tenant, &leased[i], attempt) })
	}
	attempts.Wait()
	return leased, all[tenant], err
}

func dueBy(at *time.Time, now time.Time) bool { return at != nil && !at.After(now) }

// counting is a database that counts the work of an advance.
type counting struct {
	Database
	mu     sync.Mutex
	counts clocks.AdvanceCounts // counted since the last call of taken
}

// taken returns the counts and resets them.
func (c *counting) taken() clocks.AdvanceCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = clocks.AdvanceCounts{}
	return counts
}

// SettleDue implements [Database].
func (c *counting) SettleDue(ctx context.Context, tenants []queues.DueTenant, perTenant int) (ledger.BatchCounts, error) {
	batch, err := c.Database.SettleDue(ctx, tenants, perTenant)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Expired += int64(batch.Expired)
	c.counts.Settled += int64(batch.Claimed - batch.Parked - batch.Expired)
	return batch, err
}

// SettleForward implements [Database].
func (c *counting) SettleForward(ctx context.Context, f *ledger.Forward, o ledger.OperatorResult) (leaseHeld bool, err error) {
	leaseHeld, err = c.Database.SettleForward(ctx, f, o)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !leaseHeld:
	case o.Status == payments.Timeout:
		c.counts.Expired++
	default:
		c.counts.Settled++
	}
	return leaseHeld, err
}

// FinishAttempts implements [Database].
func (c *counting) FinishAttempts(ctx context.Context, finished []ledger.FinishedAttempt) (leaseHeld []bool, err error) {
	leaseHeld, err = c.Database.FinishAttempts(ctx, finished)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, held := range leaseHeld {
		switch {
		case !held:
		case finished[i].State == ledger.EventDelivered:
			c.counts.Delivered++
		default:
			c.counts.FailedAttempts++
		}
	}
	return leaseHeld, err
}

// FinishCallback implements [Database].
func (c *counting) FinishCallback(
	ctx context.Context, callback *ledger.LeasedCallback, a ledger.AttemptResult,
) (leaseHeld bool, err error) {
	leaseHeld, err = c.Database.FinishCallback(ctx, callback, a)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !leaseHeld:
	case a.State == ledger.EventDelivered:
		c.counts.Delivered++
	default:
		c.counts.FailedAttempts++
	}
	return leaseHeld, err
}
