package service

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// firstLook and lastLook are the shortest and the longest polling interval for an advance. Polling begins with
	// firstLook, since most advances end soon.
	firstLook = 20 * time.Millisecond
	lastLook  = 250 * time.Millisecond
	// lookers is the number of callers of a sandbox that may poll with the interval lastLook. If more callers wait, the
	// interval grows, so that the total rate of polls stays the same.
	lookers = 16
	// lookTimeout bounds one poll.
	lookTimeout = 10 * time.Second
	// lookTries bounds the repetitions of a poll while the database is unavailable.
	lookTries = 10
)

// Advance is the state of an advance of a clock.
type Advance struct {
	Now    time.Time             // the sandbox's time
	Target time.Time             // the sandbox time at the end of the advance
	Ended  *clocks.AdvanceCounts // nil while the advance runs
}

// AwaitAdvance waits until an advance ends, the duration wait is over, or ctx ends. It returns [clocks.ErrClockReset] if
// the sandbox is reset during the wait.
type AwaitAdvance func(ctx context.Context, wait time.Duration) (Advance, error)

// AdvanceClock records a target for the sandbox's clock, and a worker advances the clock to it. AdvanceClock does not
// wait for the advance. It returns the errors of [ledger.Ledger.Advance].
func (s *Service) AdvanceClock(ctx context.Context, who *Caller, to clocks.AdvanceTarget) (AwaitAdvance, error) {
	begun, err := s.beginAdvance(ctx, who, to)
	if err != nil {
		return nil, err
	}
	began := s.now()
	return func(ctx context.Context, wait time.Duration) (Advance, error) {
		a, err := s.awaitAdvance(ctx, who, begun, began.Add(wait))
		if errors.Is(err, clocks.ErrClockReset) {
			if _, gone := s.renew(context.WithoutCancel(ctx), who); gone != nil {
				err = gone // the sandbox was deleted or suspended, not reset
			}
		}
		return a, err
	}, nil
}

// beginAdvance records the target of the clock in the database, where the workers find it.
func (s *Service) beginAdvance(
	ctx context.Context, who *Caller, to clocks.AdvanceTarget,
) (begun clocks.Advance, err error) {
	ctx, cancel := untilRecorded(ctx)
	defer cancel()
	err = s.Renewing(ctx, who, func(ctx context.Context) (err error) {
		if err := s.ApplyFault(ctx, who); err != nil {
			return err
		}
		begun, err = s.ledger.Advance(ctx, who.Sandbox.Tenant, to)
		return err
	})
	if err == nil && !who.Sandbox.Clocked {
		// The sandbox has its own clock from now on. Cached tokens of operators' own APIs expire by this clock, so the
		// cache needs the change. If this refresh fails, the next regular refresh follows soon.
		_ = s.directory.Refresh(ctx)
	}
	return begun, err
}

// lookPause returns the longest polling interval of each caller. The parameter waiting is the number of callers of the
// sandbox.
func lookPause(waiting int) time.Duration {
	return lastLook * time.Duration(max(lookers, waiting)) / lookers
}

// awaitAdvance polls the state of an advance, and returns the state when the advance has ended, when the time until is
// reached, or when ctx ends. It holds no database connection between polls.
func (s *Service) awaitAdvance(
	ctx context.Context, who *Caller, begun clocks.Advance, until time.Time,
) (Advance, error) {
	organization := who.Sandbox.OrganizationID
	for pause := firstLook; ; pause = min(2*pause, lookPause(s.waiting.Count(organization))) {
		goOn := s.pause(ctx, min(pause, until.Sub(s.now()))) && s.now().Before(until)
		state, err := s.advanceState(context.WithoutCancel(ctx), who.Sandbox.Tenant, begun)
		switch {
		case err != nil:
			return Advance{}, err
		case state.Ended == nil && !state.UnderWay:
			return Advance{}, ErrSuspended
		case state.Ended != nil || !goOn:
			return Advance{state.Now, begun.Target, state.Ended}, nil
		}
	}
}

// advanceState reads the state of an advance. It retries while the database is unavailable.
func (s *Service) advanceState(
	ctx context.Context, tenant int64, begun clocks.Advance,
) (state clocks.AdvanceState, err error) {
	for range lookTries {
		bounded, cancel := context.WithTimeout(ctx, lookTimeout)
		state, err = s.ledger.AdvanceState(bounded, tenant, begun)
		cancel()
		if !errors.Is(err, postgres.ErrUnavailable) || !s.pause(ctx, lastLook) {
			break
		}
	}
	return state, err
}
