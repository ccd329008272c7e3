package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) evaluateExpectations(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	body, err := decode.EvaluateExpectations.Decode(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	lines, since, err := decode.ExpectedLines(who.Sandbox, body)
	if err != nil {
		return httpfront.Answer{}, err
	}
	seen, err := a.service.Observe(r.Context(), who, lines, since)
	if err != nil {
		return httpfront.Answer{}, err
	}
	return answered(http.StatusOK, view.EvaluationOf(who.Sandbox, lines, &seen)), nil
}
