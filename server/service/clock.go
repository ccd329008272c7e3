package service

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// firstLook and lastLook are the shortest and the longest polling interval for an advance. Polling begins with
	// firstLook, since most advances end soon.
	firstLook = 20 * time.Millisecond
	lastLook  = 250 * time.Millisecond
	// lookers is how many callers of a sandbox may each poll once in every lastLook. If there are more, each polls less
	// often, so that the total rate stays the same.
	lookers = 16
	// lookTimeout bounds one poll.
	lookTimeout = 10 * time.Second
)

// Advance is the state of an advance of a clock.
type Advance struct {
	Now    time.Time             // the sandbox's time
	Target time.Time             // where the clock is advanced to
	Ended  *ledger.AdvanceCounts // nil while the advance is under way
}

// AdvanceClock has a worker advance the clock. It waits for the end of the advance for the duration wait, at most until
// ctx ends. It returns the errors of [ledger.Ledger.Advance] for a target that is not allowed, and
// [ledger.ErrClockReset] for a sandbox that was reset meanwhile.
func (s *Service) AdvanceClock(
	ctx context.Context, who *Caller, to ledger.ClockTarget, wait time.Duration,
) (Advance, error) {
	until := s.now().Add(wait)
	begun, err := s.beginAdvance(ctx, who, to)
	if err != nil {
		return Advance{}, err
	}
	a, err := s.awaitAdvance(ctx, who, begun, until)
	if errors.Is(err, ledger.ErrClockReset) {
		if _, gone := s.renew(context.WithoutCancel(ctx), who); gone != nil {
			err = gone // the sandbox was deleted, and not reset
		}
	}
	return a, err
}

// beginAdvance tells the workers to advance the clock.
func (s *Service) beginAdvance(
	ctx context.Context, who *Caller, to ledger.ClockTarget,
) (begun ledger.Advance, err error) {
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
		// The sandbox has a clock of its own from now on. Tokens that this process caches expire by it, too. If this
		// refresh fails, the next regular one follows soon.
		_ = s.directory.Refresh(ctx)
	}
	return begun, err
}

// lookPause returns the longest polling interval of one caller while this many callers of its sandbox wait.
func lookPause(waiting int) time.Duration {
	return lastLook * time.Duration(max(lookers, waiting)) / lookers
}

// awaitAdvance waits until an advance has ended, or its caller has disconnected. It holds no connection to the database
// meanwhile. It returns without waiting if the limit of waiting requests is reached.
func (s *Service) awaitAdvance(
	ctx context.Context, who *Caller, begun ledger.Advance, until time.Time,
) (Advance, error) {
	organization := who.Sandbox.OrganizationID
	release, mayWait := s.waiting.Take(organization)
	defer release()
	for pause := firstLook; ; pause = min(2*pause, lookPause(s.waiting.Count(organization))) {
		goOn := mayWait && s.pause(ctx, min(pause, until.Sub(s.now()))) && s.now().Before(until)
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

// advanceState reads the state of an advance, and tries again while the database is unavailable.
func (s *Service) advanceState(
	ctx context.Context, tenant int64, begun ledger.Advance,
) (state ledger.AdvanceState, err error) {
	for range maxTries {
		bounded, cancel := context.WithTimeout(ctx, lookTimeout)
		state, err = s.ledger.AdvanceState(bounded, tenant, begun)
		cancel()
		if !errors.Is(err, postgres.ErrUnavailable) || !s.pause(ctx, lastLook) {
			break
		}
	}
	return state, err
}
