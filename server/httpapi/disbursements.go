package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) createDisbursement(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	body, err := decode.CreateDisbursement.Decode(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	fingerprint := func(reference string) []byte {
		sent := *body
		sent.Reference = reference
		return decode.CreateDisbursement.Hash(payments.Disbursement, "", &sent)
	}
	recorded, err := a.service.Disburse(r.Context(), who, service.Order{Order: body.Order(), Fingerprint: fingerprint})
	if err != nil {
		return httpfront.Answer{}, conflict(err, decode.CreateDisbursement, payments.Disbursement, "", body)
	}
	answer := created(r, who, recorded)
	answer.Status, answer.Body = http.StatusOK, jsonBody{view.DisbursementOf(recorded.Transaction, recorded.Replayed)}
	return answer, nil
}
