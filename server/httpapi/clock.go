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
	return a, wire.AdvanceRefusal(to, err)
}

const (
	// firstLook and lastLook are how long after its beginning, and how long after the look before, an advance is looked at: most end soon.
	firstLook = 20 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// awaitAdvance waits until an advance has ended. It holds no connection to the database meanwhile. Beyond the bounds of [HeldAnswers] it
// does not wait.
func (s *Server) awaitAdvance(r *http.Request, tenant int64, begun ledger.Advance, until time.Time) (answer, error) {
	ctx := context.WithoutCancel(r.Context())
	organization := sessionOf(r).sandbox.OrganizationID
	reached := s.held.take(organization)
	if reached == "" {
		defer s.held.giveBack(organization)
	} else {
		s.metrics.NotHeld(reached)
	}
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		patient := reached == "" && s.pause(min(pause, until.Sub(s.now())))
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
		if !errors.Is(err, postgres.ErrUnavailable) || !s.pause(lastLook) {
			break
		}
	}
	return state, err
}

// pause waits, and reports false if the process was told to stop.
func (s *Server) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.draining:
		return false
	}
}
