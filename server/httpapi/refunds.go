package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (s *Server) createRefund(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.CreateRefund.DecodeOptional(w, r)
	if err != nil {
		return answer{}, err
	}
	parent, err := payments.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return answer{}, wire.NoSuchTransaction()
	}
	made, err := s.service.Refund(r.Context(), callerOf(r), service.Ask{Order: body.Order(parent), Fingerprint: func(reference string) []byte {
		sent := *body
		sent.Reference = reference
		return wire.CreateRefund.Hash(payments.Refund, parent.String(), &sent)
	}})
	if err != nil {
		return answer{}, err
	}
	return created(r, made), nil
}
