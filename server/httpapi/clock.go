package httpapi

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) getClock(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	sandbox := who.Sandbox
	clock, err := a.ledger.Clock(r.Context(), sandbox.Tenant)
	return answered(http.StatusOK, view.ClockOf(string(sandbox.ClockMode), &clock)), err
}

func (a *API) advanceClock(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	body, err := decode.AdvanceClock.Decode(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	to, wait, err := decode.AdvanceTarget(body)
	if err != nil {
		return httpfront.Answer{}, err
	}
	await, err := a.service.AdvanceClock(r.Context(), who, to)
	if err != nil {
		return httpfront.Answer{}, err
	}
	return httpfront.Answer{Await: func(ctx context.Context) (httpfront.Answer, error) {
		advance, err := await(ctx, wait)
		switch {
		case err != nil:
			return httpfront.Answer{}, err
		case advance.Ended == nil:
			return answered(http.StatusAccepted, view.AdvancingOf(advance.Now, advance.Target)), nil
		}
		return answered(http.StatusOK, view.AdvancedOf(advance.Now, advance.Ended)), nil
	}}, nil
}
