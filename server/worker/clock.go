package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/telemetry"
)

const (
	// clocksAtOnce is the maximum number of clocks that a worker advances at one time.
	clocksAtOnce = 16
	// clockLease is how long a clock belongs to the worker that advances it. It is renewed while the worker lives, and short, so that the
	// clock of a worker that died does not stand for long.
	clockLease = 5 * time.Second
	// clockPause is how long an advance waits for what another worker has in hand.
	clockPause = 10 * time.Millisecond
	// clockStrides bounds how often an advance stops for what callers record meanwhile: however much that is, the clock reaches its target.
	// It stops for all that was recorded before.
	clockStrides = 100
)

// clockDatabase is what the advance of clocks needs of the database, beside what settles, forwards and delivers.
type clockDatabase interface {
	ClocksToAdvance(ctx context.Context, batch int) ([]ledger.DueTenant, error)
	LeaseClock(ctx context.Context, tenant int64, lease time.Duration) (ledger.ClockLease, error)
	RenewClockLease(ctx context.Context, c ledger.ClockLease, lease time.Duration) error
	ReleaseClock(ctx context.Context, c ledger.ClockLease, done ledger.AdvanceCounts) error
	ViewClock(ctx context.Context, c ledger.ClockLease, old, present time.Time) (ledger.ClockView, error)
	MoveClock(ctx context.Context, c ledger.ClockLease, moment time.Time, done ledger.AdvanceCounts) (now time.Time, err error)
	EndAdvance(ctx context.Context, c ledger.ClockLease, reached bool, done ledger.AdvanceCounts) error
}

// advanceClocks advances the clocks of sandboxes until ctx ends.
func (w *Worker) advanceClocks(ctx context.Context) {
	slots := make(chan struct{}, clocksAtOnce)
	var advances sync.WaitGroup
	defer advances.Wait()
	w.sweep(ctx, "clock", func(ctx context.Context) (more bool, err error) {
		free := cap(slots) - len(slots)
		if free == 0 {
			return false, nil
		}
		var waiting []ledger.DueTenant
		err = within(ctx, leaseTimeout, func(ctx context.Context) (err error) {
			waiting, err = w.database.ClocksToAdvance(ctx, free)
			return err
		})
		for _, sandbox := range waiting {
			slots <- struct{}{}
			advances.Go(func() {
				w.advanceClock(ctx, sandbox)
				<-slots
			})
		}
		return false, err
	})
}

// advanceClock advances the clock of a sandbox to its target, if no other worker does.
func (w *Worker) advanceClock(ctx context.Context, sandbox ledger.DueTenant) {
	err := w.contained(ctx, func() error {
		lease, err := w.database.LeaseClock(ctx, sandbox.Tenant, clockLease)
		if err != nil {
			return err
		}
		return w.newAdvance(lease).run(ctx)
	})
	switch {
	case err == nil:
		w.resumeSandboxes(ctx, "clock", []ledger.DueTenant{sandbox})
	case errors.Is(err, ledger.ErrClockLeaseLost), ctx.Err() != nil:
	case errors.Is(err, postgres.ErrUnavailable):
		w.log.WarnContext(ctx, "the advance of a clock was interrupted; it goes on when its lease ends", "tenant", sandbox.Tenant, "error", err)
	default:
		w.skipSandbox(ctx, "clock", sandbox, err)
	}
}

// advance is the advance of one clock. The clock stands, and is moved from one moment at which something is due to the next. Everything
// that is due is done by the sweeps' own code, and no sweep works on the sandbox meanwhile.
type advance struct {
	*Worker // on a database that counts what is done
	lease   ledger.ClockLease
	began   time.Time // the stamp up to which everything was recorded before this worker began
	arrived time.Time // the stamp up to which everything was recorded before the clock came to where it stands
	stride  time.Duration
	done    *counting
	sending *delivery
}

func (w *Worker) newAdvance(lease ledger.ClockLease) *advance {
	done := &counting{Database: w.database}
	inner := w.on(done)
	return &advance{
		Worker: inner, lease: lease, began: lease.Now, arrived: lease.Now, stride: lease.Target.Sub(lease.Now) / clockStrides, done: done,
		sending: &delivery{Worker: inner, results: resultWriter{inner, make(chan result, inner.perSandbox)}},
	}
}

// run advances the clock until it has reached its target, or ctx ends. Then what has begun is finished, and another worker may go on.
func (a *advance) run(ctx context.Context) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	defer close(a.sending.results.queue)
	beside.Go(func() { a.sending.results.run(ctx) })
	held, release := context.WithCancel(ctx)
	defer release()
	beside.Go(func() { a.keep(held, release) })
	for held.Err() == nil {
		ended, err := a.step(context.WithoutCancel(ctx))
		if ended || err != nil {
			return err
		}
	}
	if ctx.Err() == nil {
		return ledger.ErrClockLeaseLost
	}
	return within(context.WithoutCancel(ctx), leaseTimeout, func(ctx context.Context) error {
		return a.database.ReleaseClock(ctx, a.lease, a.done.taken())
	})
}

// keep renews the lease until ctx ends, and calls lost when it cannot.
func (a *advance) keep(ctx context.Context, lost func()) {
	for sleep(ctx, clockLease/4); ctx.Err() == nil; sleep(ctx, clockLease/4) {
		err := within(ctx, leaseTimeout, func(ctx context.Context) error { return a.database.RenewClockLease(ctx, a.lease, clockLease) })
		if errors.Is(err, ledger.ErrClockLeaseLost) {
			lost()
		}
	}
}

// step does what is due, or moves the clock on if nothing is.
func (a *advance) step(ctx context.Context) (ended bool, err error) {
	view, err := a.view(ctx)
	switch {
	case err != nil:
		return false, err
	case view.Suspended:
		return true, a.end(ctx, false)
	case view.Present.Held:
		sleep(ctx, clockPause)
		return false, nil
	case dueBy(view.Present.At(), view.Now):
		return false, a.work(ctx, view)
	case !view.Now.Before(a.lease.Target):
		return true, a.end(ctx, true)
	}
	return false, a.move(ctx, a.next(view))
}

// view waits for nothing.
func (a *advance) view(ctx context.Context) (view ledger.ClockView, err error) {
	err = within(ctx, leaseTimeout, func(ctx context.Context) error {
		view, err = a.database.ViewClock(ctx, a.lease, a.began, a.arrived)
		return err
	})
	return view, err
}

// next is where the clock stands next.
func (a *advance) next(view ledger.ClockView) time.Time {
	next := a.lease.Target
	if at := view.Old.At(); at != nil && at.Before(next) {
		next = *at
	}
	if at := view.All.At(); at != nil {
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

func (a *advance) move(ctx context.Context, moment time.Time) error {
	return within(ctx, leaseTimeout, func(ctx context.Context) (err error) {
		a.arrived, err = a.database.MoveClock(ctx, a.lease, moment, a.done.taken())
		return err
	})
}

func (a *advance) end(ctx context.Context, reached bool) error {
	err := within(ctx, leaseTimeout, func(ctx context.Context) error {
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

// work does a share of what is due.
func (a *advance) work(ctx context.Context, view ledger.ClockView) error {
	sandbox := ledger.DueTenant{Tenant: a.lease.Tenant, Probe: view.Paused}
	found := 0
	for _, part := range []struct {
		due *time.Time
		do  func(context.Context, ledger.DueTenant) (found int, err error)
	}{
		{view.Present.SettleAt, a.settleShare}, {view.Present.ForwardAt, a.forwardShare}, {view.Present.DeliverAt, a.deliverShare},
		{view.Present.CallBackAt, a.callBackShare},
	} {
		if !dueBy(part.due, view.Now) {
			continue
		}
		n, err := part.do(ctx, sandbox)
		if err != nil {
			return err
		}
		found += n
	}
	if found == 0 { // another worker is just finishing it
		sleep(ctx, clockPause)
	}
	return nil
}

func (a *advance) settleShare(ctx context.Context, sandbox ledger.DueTenant) (found int, err error) {
	err = within(ctx, settleTimeout, func(ctx context.Context) error {
		counts, err := a.database.SettleDue(ctx, []ledger.DueTenant{sandbox}, settleBatch)
		found = counts.Claimed
		return err
	})
	return found, err
}

func (a *advance) forwardShare(ctx context.Context, sandbox ledger.DueTenant) (found int, err error) {
	var leased []ledger.Forward
	err = within(ctx, leaseTimeout, func(ctx context.Context) error {
		leased, _, err = a.database.LeaseDueForwards(ctx, []ledger.Share{{DueTenant: sandbox, Slots: forwardPerSandbox}}, forwardLease)
		return err
	})
	attemptAll(ctx, a, leased, a.forwardOne)
	return len(leased), err
}

func (a *advance) callBackShare(ctx context.Context, sandbox ledger.DueTenant) (found int, err error) {
	var leased []ledger.LeasedCallback
	share := []ledger.Share{{DueTenant: sandbox, Slots: callbacksPerSandbox}}
	var all map[int64]int
	err = within(ctx, leaseTimeout, func(ctx context.Context) error {
		leased, all, err = a.database.LeaseDueCallbacks(ctx, share, lease, operators.CallbackBody)
		return err
	})
	attemptAll(ctx, a, leased, a.callBackOne)
	return all[sandbox.Tenant], err
}

func (a *advance) deliverShare(ctx context.Context, sandbox ledger.DueTenant) (int, error) {
	var leased []ledger.LeasedEvent
	var found map[int64]int
	err := within(ctx, leaseTimeout, func(ctx context.Context) (err error) {
		leased, found, err = a.sending.leaseEvents(ctx, []ledger.Share{{DueTenant: sandbox, Slots: a.perSandbox}})
		return err
	})
	attemptAll(ctx, a, leased, a.sending.attempt)
	for i := range leased {
		if leased[i].Problem != nil && err == nil {
			err = leased[i].Problem // the clock cannot pass it
		}
	}
	return found[sandbox.Tenant], err
}

// attemptAll makes an attempt at each of what was leased, side by side, and records the results.
func attemptAll[T any](ctx context.Context, a *advance, leased []T, attempt func(context.Context, *T) (end attemptEnd, record func())) {
	var attempts sync.WaitGroup
	for i := range leased {
		attempts.Go(func() {
			_ = a.contained(ctx, func() error { // due again when its lease ends
				_, record := attempt(ctx, &leased[i])
				record()
				return nil
			})
		})
	}
	attempts.Wait()
}

func dueBy(at *time.Time, now time.Time) bool { return at != nil && !at.After(now) }

// counting is a database that counts what is done in the course of an advance.
type counting struct {
	Database
	mu     sync.Mutex
	counts ledger.AdvanceCounts // since they were taken last
}

// taken returns the counts, and begins anew.
func (c *counting) taken() ledger.AdvanceCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = ledger.AdvanceCounts{}
	return counts
}

// SettleDue implements [Database].
func (c *counting) SettleDue(ctx context.Context, tenants []ledger.DueTenant, share int) (ledger.BatchCounts, error) {
	batch, err := c.Database.SettleDue(ctx, tenants, share)
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
