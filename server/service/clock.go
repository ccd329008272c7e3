package service

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// firstLook and lastLook are how long after its beginning, and how long after the look before, an advance is looked
	// at: most end soon.
	firstLook = 20 * time.Millisecond
	lastLook  = 250 * time.Millisecond
	// lookers is how many of a sandbox look so often. If more wait, each looks less often, so that all together look no
	// more often.
	lookers = 16
	// lookTimeout bounds one look.
	lookTimeout = 10 * time.Second
)

// Advance is what came of advancing a clock.
type Advance struct {
	Now    time.Time             // of the sandbox
	Target time.Time             // where the clock is advanced to
	Ended  *ledger.AdvanceCounts // nil: it is under way
}

// AdvanceClock has a worker advance the clock, and waits for it for a while, at most until ctx ends. It returns the
// errors of [ledger.Ledger.Advance] for what cannot be, and [ledger.ErrClockReset] for a sandbox that was reset
// meanwhile.
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
		// It has a clock of its own now, by which also tokens end that this process remembers. What fails here is read again
		// soon anyway.
		_ = s.directory.Refresh(ctx)
	}
	return begun, err
}

// lookPause is the longest pause between two looks of one caller while so many of its sandbox wait.
func lookPause(waiting int) time.Duration {
	return lastLook * time.Duration(max(lookers, waiting)) / lookers
}

// awaitAdvance waits until an advance has ended, or its caller has gone away. It holds no connection to the database
// meanwhile. If as many wait as may, it does not wait.
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

// advanceState does not give up while the database is unavailable for a moment: the advance goes on.
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
