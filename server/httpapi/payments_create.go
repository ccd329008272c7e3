package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) createPayment(w http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	body, err := wire.CreatePayment.Decode(w, r)
	if err != nil {
		return exchange.Answer{}, err
	}
	made, err := a.service.Collect(r.Context(), who, service.Ask{Order: body.Order(), Fingerprint: func(string) []byte {
		return wire.CreatePayment.Hash(payments.Collection, "", body)
	}})
	if err != nil {
		return exchange.Answer{}, err
	}
	return created(r, who, made), nil
}

// created answers with a transaction, once its answer is due. A replay is answered at once.
func created(r *http.Request, who *service.Caller, made service.Recorded) exchange.Answer {
	view := wire.PaymentOf(made.Transaction, who.Sandbox.Faults)
	if made.Replayed {
		return replayed(view)
	}
	a := answered(http.StatusCreated, view)
	a.Header = http.Header{"Location": {exchange.PathTo(r, "/v1/payments/"+made.Transaction.ID.String())}}
	a.Due, a.Before = made.AnswerAt, made.BeforeAnswer
	return a
}

// replayed answers a request that repeats another one.
func replayed(view any) exchange.Answer {
	a := answered(http.StatusOK, view)
	a.Header = http.Header{"Idempotent-Replayed": {"true"}}
	return a
}
