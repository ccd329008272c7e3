package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) createReceiverCheck(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	var body wire.ReceiverCheckRequest
	if r.ContentLength != 0 {
		sent, err := decode.CreateReceiverCheck.Decode(w, r, who.Sandbox)
		if err != nil {
			return httpfront.Answer{}, err
		}
		body = *sent
	}
	var tx *payments.ID
	if body.TxID != "" {
		id, err := payments.ParseID(body.TxID)
		if err != nil {
			return httpfront.Answer{}, view.NoEndedCollection()
		}
		tx = &id
	}
	check, err := a.service.CheckReceiver(r.Context(), who, tx, body.Allow)
	if err != nil {
		return httpfront.Answer{}, err
	}
	return checkAnswered(http.StatusAccepted, check)
}

func (a *API) getReceiverCheck(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	id, err := decode.ParseCheckID(chi.URLParam(r, "check"))
	if err != nil {
		return httpfront.Answer{}, view.NoSuchCheck()
	}
	check, err := a.service.ReadReceiverCheck(r.Context(), who, id)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchCheck())
	}
	return checkAnswered(http.StatusOK, check)
}

func checkAnswered(status int, check *receiverchecks.Check) (httpfront.Answer, error) {
	view, err := view.ReceiverCheckOf(check)
	if err != nil {
		return httpfront.Answer{}, err
	}
	return answered(status, view), nil
}
