package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/telemetry"
)

const (
	// clocksAtOnce is the maximum number of clocks that a worker advances at a time. When there are many, most wait for
	// attempts. When others wait for a slot, an advance that has run for clockTurn yields its slot.
	clocksAtOnce = 1000
	clockTurn    = time.Second
	// clockStatements is how many statements run at a time for advances in their first clockTurn, and for the others.
	// Each advance has one statement in turn, so a short one does not wait for the turns of many long ones.
	clockStatements = 8
	// clockLease is the duration of a clock's lease, which its worker renews. It is short, so that the clock of a
	// worker that died does not stand for long. During attempts it is as long as the leases of the rows, since the
	// clock stands that long anyway.
	clockLease = 5 * time.Second
	// clockPause is the first pause of an advance that waits for rows held by another worker. Pauses grow up to
	// maxClockPause.
	clockPause    = 10 * time.Millisecond
	maxClockPause = time.Second
	// clockStrides bounds how often an advance stops for rows that callers record meanwhile, so that the clock reaches
	// its target. It always stops for rows that were recorded before.
	clockStrides = 100
)

// clockDatabase has the methods of the database that the advance of clocks needs, besides those that settle, forward
// and deliver.
type clockDatabase interface {
	ClocksToAdvance(ctx context.Context, batch int) ([]ledger.DueTenant, error)
	LeaseClock(ctx context.Context, tenant int64, lease time.Duration) (ledger.ClockLease, error)
	RenewClockLease(ctx context.Context, c ledger.ClockLease, lease time.Duration) error
	ReleaseClock(ctx context.Context, c ledger.ClockLease, done ledger.AdvanceCounts) error
	ViewClock(ctx context.Context, c ledger.ClockLease, started, arrived time.Time) (ledger.ClockView, error)
	MoveClock(ctx context.Context, c ledger.ClockLease, moment time.Time, done ledger.AdvanceCounts) (now time.Time, err error)
	EndAdvance(ctx context.Context, c ledger.ClockLease, reached bool, done ledger.AdvanceCounts) error
}

// clockSweep advances the clocks of several sandboxes concurrently.
type clockSweep struct {
	*Worker
	slots       chan struct{} // one for each clock that is being advanced
	short, long chan struct{} // one for each statement of an advance in its first turn, and of the others
	crowded     atomic.Bool   // a clock waits for a slot
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
	free := cap(s.slots) - len(s.slots)
	var waiting []ledger.DueTenant
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

// advanceClock advances the clock of a sandbox to its target, if no other worker does.
func (s *clockSweep) advanceClock(ctx context.Context, sandbox ledger.DueTenant) {
	err := s.contained(ctx, func() error {
		a := s.newAdvance()
		if err := a.takeLease(ctx, sandbox.Tenant); err != nil {
			return err
		}
		return a.run(ctx)
	})
	switch {
	case err == nil:
		s.resumeSandboxes(ctx, "clock", []ledger.DueTenant{sandbox})
	case errors.Is(err, ledger.ErrClockLeaseLost), ctx.Err() != nil:
	case errors.Is(err, postgres.ErrUnavailable):
		s.log.WarnContext(ctx, "the advance of a clock was interrupted; it goes on when its lease ends", "tenant", sandbox.Tenant, "error", err)
	default:
		s.skipSandbox(ctx, "clock", sandbox, err)
	}
}

// advance is the advance of one clock. The clock stands, and moves from one moment at which something is due to the
// next. The sweeps' own code does the due work, and no sweep works on the sandbox meanwhile. While it waits, an advance
// holds nothing that others need: it takes turns with them for each statement, and with the sweeps for the slots of its
// attempts.
type advance struct {
	*Worker    // on a database that counts what is done
	shared     *clockSweep
	lease      ledger.ClockLease
	taken      time.Time // when the lease was taken, by the worker's clock
	makesRoom  bool      // the slot goes to another clock
	began      time.Time // rows with a stamp up to this one were recorded before this worker began
	arrived    time.Time // rows with a stamp up to this one were recorded before the clock was moved here
	stride     time.Duration
	pause      time.Duration // the last pause for rows of another worker; 0 after work was done
	attempting atomic.Bool
	done       *counting
}

func (s *clockSweep) newAdvance() *advance {
	done := &counting{Database: s.database}
	return &advance{Worker: s.on(done), shared: s, taken: s.now(), done: done}
}

// query waits for the advance's turn, and then runs f, which sends one statement, for at most limit.
func (a *advance) query(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	turns := a.shared.short
	if a.now().Sub(a.taken) >= clockTurn {
		turns = a.shared.long
	}
	turns <- struct{}{}
	defer func() { <-turns }()
	return within(ctx, limit, f)
}

// takeLease takes the lease of the clock. It returns [ledger.ErrClockLeaseLost] if another worker holds it.
func (a *advance) takeLease(ctx context.Context, tenant int64) error {
	err := a.query(ctx, leaseTimeout, func(ctx context.Context) (err error) {
		a.lease, err = a.database.LeaseClock(ctx, tenant, clockLease)
		return err
	})
	a.began, a.arrived, a.stride = a.lease.Now, a.lease.Now, a.lease.Target.Sub(a.lease.Now)/clockStrides
	return err
}

// run advances the clock until it reaches its target, yields its slot to another clock, or ctx ends. Then it finishes
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
		return ledger.ErrClockLeaseLost
	}
	release()
	beside.Wait() // or the lease might be renewed once more
	return a.query(context.WithoutCancel(ctx), leaseTimeout, func(ctx context.Context) error {
		return a.database.ReleaseClock(ctx, a.lease, a.done.taken())
	})
}

// keepLease renews the lease until ctx ends, and calls lost when the lease is over.
func (a *advance) keepLease(ctx context.Context, lost func()) {
	for length := clockLease; ; {
		if sleep(ctx, length/4); ctx.Err() != nil {
			return
		}
		if length = clockLease; a.attempting.Load() {
			length = lease
		}
		err := within(ctx, leaseTimeout, func(ctx context.Context) error { return a.database.RenewClockLease(ctx, a.lease, length) })
		if errors.Is(err, ledger.ErrClockLeaseLost) {
			lost()
		}
	}
}

// step does the work that is due, or moves the clock on if nothing is due. It finishes what has started when ctx ends.
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
	err = a.moveClock(ctx, a.nextMoment(view)) // before it makes room, so that each turn brings the clock further
	a.makesRoom = err == nil && a.now().Sub(a.taken) >= clockTurn && a.shared.crowded.CompareAndSwap(true, false)
	return false, err
}

// pauseForOthers waits for another worker that holds the due rows: longer each time in a row, up to maxClockPause.
func (a *advance) pauseForOthers(ctx context.Context) {
	a.pause = min(max(2*a.pause, clockPause), maxClockPause)
	sleep(ctx, a.pause)
}

// viewClock returns the clock's time and what is due by it, without waiting for rows that another worker holds.
func (a *advance) viewClock(ctx context.Context) (view ledger.ClockView, err error) {
	err = a.query(ctx, leaseTimeout, func(ctx context.Context) error {
		view, err = a.database.ViewClock(ctx, a.lease, a.began, a.arrived)
		return err
	})
	return view, err
}

// nextMoment returns the sandbox time to move the clock to: the next moment at which something is due, at most the
// target.
func (a *advance) nextMoment(view ledger.ClockView) time.Time {
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

// moveClock moves the clock to a moment of sandbox time, and records what was done since it was moved last.
func (a *advance) moveClock(ctx context.Context, moment time.Time) error {
	a.pause = 0
	return a.query(ctx, leaseTimeout, func(ctx context.Context) (err error) {
		a.arrived, err = a.database.MoveClock(ctx, a.lease, moment, a.done.taken())
		return err
	})
}

// endAdvance ends the advance for the callers that wait for it. reached: the clock is at its target, and did not stop
// before it.
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

// doDue does one batch of each kind of due work, or waits if another worker holds all of it.
func (a *advance) doDue(held context.Context, view ledger.ClockView) error {
	found, due := 0, view.RecordedByArrival
	for _, part := range []struct {
		due *time.Time
		do  func(context.Context, ledger.ClockView) (found int, err error)
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
	if found == 0 { // another worker is just finishing it
		a.pauseForOthers(held)
	} else {
		a.pause = 0
	}
	return nil
}

func (a *advance) settleDueBatch(held context.Context, _ ledger.ClockView) (found int, err error) {
	err = a.query(context.WithoutCancel(held), settleTimeout, func(ctx context.Context) error {
		counts, err := a.database.SettleDue(ctx, []ledger.DueTenant{{Tenant: a.lease.Tenant}}, settleBatch)
		found = counts.Claimed
		return err
	})
	return found, err
}

func (a *advance) forwardDue(held context.Context, _ ledger.ClockView) (found int, err error) {
	_, found, err = attemptDue(held, a, a.forwarding, false,
		func(ctx context.Context, grants []ledger.SlotGrant) ([]ledger.Forward, map[int64]int, error) {
			return a.database.LeaseDueForwards(ctx, grants, forwardLease)
		}, a.forwardOne)
	return found, err
}

func (a *advance) callBackDue(held context.Context, _ ledger.ClockView) (found int, err error) {
	_, found, err = attemptDue(held, a, a.callingBack, false,
		func(ctx context.Context, grants []ledger.SlotGrant) ([]ledger.LeasedCallback, map[int64]int, error) {
			return a.database.LeaseDueCallbacks(ctx, grants, lease, operators.CallbackBody)
		}, a.callBackOne)
	return found, err
}

func (a *advance) deliverDue(held context.Context, view ledger.ClockView) (found int, err error) {
	sending := &delivery{Worker: a.Worker, results: resultWriter{a.Worker, make(chan result, a.perSandbox)}}
	defer close(sending.results.queue)
	go sending.results.run(context.WithoutCancel(held))
	leased, found, err := attemptDue(held, a, a.delivering, view.Paused, sending.leaseEvents, sending.attempt)
	for i := range leased {
		if leased[i].Problem != nil && err == nil {
			err = leased[i].Problem // the clock cannot pass it
		}
	}
	return found, err
}

// attemptDue leases as many rows of the sandbox as it gets slots for, and makes the attempts concurrently. It returns
// when the results are recorded, or with nothing found if held ends before there is a slot.
func attemptDue[T any](
	held context.Context, a *advance, queue *fairQueue, probe bool,
	leaseDue func(context.Context, []ledger.SlotGrant) (leased []T, found map[int64]int, err error),
	attempt func(context.Context, *T) (end attemptEnd, record func()),
) (leased []T, found int, err error) {
	tenant := a.lease.Tenant
	a.attempting.Store(true)
	defer a.attempting.Store(false)
	grants := []ledger.SlotGrant{queue.ask(held, ledger.DueTenant{Tenant: tenant, Probe: probe})}
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
	queue.wake() // offer the slots that are left to others
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
	counts ledger.AdvanceCounts // since the last call of taken
}

// taken returns the counts and resets them.
func (c *counting) taken() ledger.AdvanceCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = ledger.AdvanceCounts{}
	return counts
}

// SettleDue implements [Database].
func (c *counting) SettleDue(ctx context.Context, tenants []ledger.DueTenant, perTenant int) (ledger.BatchCounts, error) {
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
