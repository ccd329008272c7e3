package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) evaluateExpectations(w http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	body, err := decode.EvaluateExpectations.Decode(w, r)
	if err != nil {
		return exchange.Answer{}, err
	}
	lines, since, err := decode.ExpectedLines(body)
	if err != nil {
		return exchange.Answer{}, err
	}
	seen, err := a.service.Observe(r.Context(), who, lines, since)
	if err != nil {
		return exchange.Answer{}, err
	}
	return answered(http.StatusOK, view.EvaluationOf(lines, &seen)), nil
}
