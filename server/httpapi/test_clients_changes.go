package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) createTestClient(w http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	body, err := wire.CreateTestClient.Decode(w, r)
	if err != nil {
		return exchange.Answer{}, err
	}
	added, err := a.service.AddTestClient(r.Context(), who, body.TestClient())
	if err != nil {
		return exchange.Answer{}, wire.TestClientRefusal(err)
	}
	answer := answered(http.StatusCreated, wire.TestClientOf(&added))
	answer.Header = http.Header{"Location": {exchange.PathTo(r, "/v1/test_clients/"+added.MSISDN)}}
	return answer, nil
}

func (a *API) patchTestClient(w http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	msisdn, err := msisdnOf(r)
	if err != nil {
		return exchange.Answer{}, err
	}
	patch, err := wire.PatchTestClient.Decode(w, r)
	if err != nil {
		return exchange.Answer{}, err
	}
	changed, err := a.service.ChangeTestClient(r.Context(), who, msisdn, patch.Apply)
	if err != nil {
		return exchange.Answer{}, wire.TestClientRefusal(err)
	}
	return answered(http.StatusOK, wire.TestClientOf(&changed)), nil
}

// deleteTestClient needs no body and ignores one.
func (a *API) deleteTestClient(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	msisdn, err := msisdnOf(r)
	if err != nil {
		return exchange.Answer{}, err
	}
	if err := a.service.RemoveTestClient(r.Context(), who, msisdn); err != nil {
		return exchange.Answer{}, wire.TestClientRefusal(err)
	}
	return exchange.Answer{Status: http.StatusNoContent}, nil
}
