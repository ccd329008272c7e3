package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (s *Server) createDisbursement(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.CreateDisbursement.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	made, err := s.service.Disburse(r.Context(), callerOf(r), service.Ask{Order: body.Order(), Fingerprint: func(reference string) []byte {
		sent := *body
		sent.Reference = reference
		return wire.CreateDisbursement.Hash(payments.Disbursement, "", &sent)
	}})
	if err != nil {
		return answer{}, err
	}
	a := created(r, made)
	a.status = http.StatusOK
	a.body = wire.DisbursementOf(made.Transaction, made.Replayed)
	return a, nil
}
