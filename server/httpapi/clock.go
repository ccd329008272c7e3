package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
)

func (s *Server) getClock(_ http.ResponseWriter, r *http.Request) (answer, error) {
	sandbox := sessionOf(r).sandbox
	clock, err := s.ledger.Clock(r.Context(), sandbox.Tenant)
	return answer{status: http.StatusOK, body: wire.ClockOf(string(sandbox.ClockMode), &clock)}, err
}

// advanceClock has a worker advance the clock, and waits for it for a while.
func (s *Server) advanceClock(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.AdvanceClock.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	to, wait, err := body.Parsed()
	if err != nil {
		return answer{}, err
	}
	until := s.now().Add(wait)
	begin, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), bookingTimeout)
	defer cancel()
	var tenant int64
	var begun ledger.Advance
	_, err = s.repeat(w, r.WithContext(begin), s.disturbed(func(_ http.ResponseWriter, r *http.Request) (_ answer, err error) {
		tenant = sessionOf(r).sandbox.Tenant
		begun, err = s.ledger.Advance(r.Context(), tenant, to)
		return answer{}, err
	}))
	if err != nil {
		return answer{}, wire.AdvanceRefusal(to, err)
	}
	if !sessionOf(r).sandbox.Clocked {
		// It has a clock of its own now, by which also tokens end that this process remembers. What fails here is read again soon anyway.
		_ = s.directory.Refresh(begin)
	}
	a, err := s.awaitAdvance(r, tenant, begun, until)
	if errors.Is(err, ledger.ErrClockReset) {
		who := sessionOf(r)
		if _, gone := s.refreshSession(context.WithoutCancel(r.Context()), &who); gone != nil {
			err = gone // the sandbox was deleted, and not reset
		}
	}
	return a, wire.AdvanceRefusal(to, err)
}

const (
	// firstLook and lastLook are how long after its beginning, and how long after the look before, an advance is looked at: most end soon.
	firstLook = 20 * time.Millisecond
	lastLook  = 250 * time.Millisecond
	// lookers is how many of a sandbox look so often. If more wait, each looks less often, so that all together look no more often.
	lookers = 16
)

// lookPause is the longest pause between two looks of one caller while so many answers of its sandbox are held.
func lookPause(held int) time.Duration { return lastLook * time.Duration(max(lookers, held)) / lookers }

// awaitAdvance waits until an advance has ended, or its caller has gone away. It holds no connection to the database meanwhile. Beyond the
// bounds of [HeldAnswers] it does not wait.
func (s *Server) awaitAdvance(r *http.Request, tenant int64, begun ledger.Advance, until time.Time) (answer, error) {
	ctx := context.WithoutCancel(r.Context())
	organization := sessionOf(r).sandbox.OrganizationID
	reached := s.held.take(organization)
	if reached == "" {
		defer s.held.giveBack(organization)
	} else {
		s.metrics.NotHeld(reached)
	}
	for pause := firstLook; ; pause = min(2*pause, lookPause(s.held.count(organization))) {
		patient := reached == "" && s.pause(r.Context(), min(pause, until.Sub(s.now())))
		state, err := s.advanceState(ctx, tenant, begun)
		if err != nil {
			return answer{}, err
		}
		switch {
		case state.Ended != nil:
			return answer{status: http.StatusOK, body: wire.AdvancedOf(state.Now, state.Ended)}, nil
		case !state.UnderWay:
			return answer{}, wire.Suspended()
		case !patient || !s.now().Before(until):
			return answer{status: http.StatusAccepted, body: wire.AdvancingOf(state.Now, begun.Target)}, nil
		}
	}
}

// advanceState does not give up while the database is unavailable for a moment: the advance goes on.
func (s *Server) advanceState(ctx context.Context, tenant int64, begun ledger.Advance) (state ledger.AdvanceState, err error) {
	for range maxTries {
		bounded, cancel := context.WithTimeout(ctx, answerTimeout)
		state, err = s.ledger.AdvanceState(bounded, tenant, begun)
		cancel()
		if !errors.Is(err, postgres.ErrUnavailable) || !s.pause(ctx, lastLook) {
			break
		}
	}
	return state, err
}

// pause waits, and reports false if the process was told to stop, or the context ended.
func (s *Server) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-s.draining:
		return false
	}
}
