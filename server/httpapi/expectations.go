package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) evaluateExpectations(w http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	body, err := wire.EvaluateExpectations.Decode(w, r)
	if err != nil {
		return exchange.Answer{}, err
	}
	lines, since, err := wire.ExpectedLines(body)
	if err != nil {
		return exchange.Answer{}, err
	}
	seen, err := a.service.Observe(r.Context(), who, lines, since)
	if err != nil {
		return exchange.Answer{}, err
	}
	return answered(http.StatusOK, wire.EvaluationOf(lines, &seen)), nil
}
