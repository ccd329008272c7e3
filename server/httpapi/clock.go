package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (s *Server) getClock(_ http.ResponseWriter, r *http.Request) (answer, error) {
	sandbox := callerOf(r).Sandbox
	clock, err := s.ledger.Clock(r.Context(), sandbox.Tenant)
	return answer{status: http.StatusOK, body: wire.ClockOf(string(sandbox.ClockMode), &clock)}, err
}

func (s *Server) advanceClock(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.AdvanceClock.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	to, wait, err := body.Parsed()
	if err != nil {
		return answer{}, err
	}
	advance, err := s.service.AdvanceClock(r.Context(), callerOf(r), to, wait)
	switch {
	case err != nil:
		return answer{}, wire.AdvanceRefusal(to, err)
	case advance.Ended == nil:
		return answer{status: http.StatusAccepted, body: wire.AdvancingOf(advance.Now, advance.Target)}, nil
	}
	return answer{status: http.StatusOK, body: wire.AdvancedOf(advance.Now, advance.Ended)}, nil
}
