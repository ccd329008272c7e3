package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) createDisbursement(w http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	body, err := wire.CreateDisbursement.Decode(w, r)
	if err != nil {
		return exchange.Answer{}, err
	}
	fingerprint := func(reference string) []byte {
		sent := *body
		sent.Reference = reference
		return wire.CreateDisbursement.Hash(payments.Disbursement, "", &sent)
	}
	recorded, err := a.service.Disburse(r.Context(), who, service.Ask{Order: body.Order(), Fingerprint: fingerprint})
	if err != nil {
		return exchange.Answer{}, conflict(err, wire.CreateDisbursement, payments.Disbursement, "", body)
	}
	answer := created(r, who, recorded)
	answer.Status, answer.Body = http.StatusOK, jsonBody{wire.DisbursementOf(recorded.Transaction, recorded.Replayed)}
	return answer, nil
}
