package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) createRefund(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	body, err := decode.CreateRefund.DecodeOptional(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	parent, err := payments.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return httpfront.Answer{}, view.NoSuchTransaction()
	}
	fingerprint := func(reference string) []byte {
		sent := *body
		sent.Reference = reference
		return decode.CreateRefund.Hash(payments.Refund, parent.String(), &sent)
	}
	recorded, err := a.service.Refund(r.Context(), who, service.Order{Order: body.Order(parent), Fingerprint: fingerprint})
	if err != nil {
		return httpfront.Answer{}, conflict(err, decode.CreateRefund, payments.Refund, parent.String(), body)
	}
	return created(r, who, recorded), nil
}
