package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) getPayment(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	id, err := payments.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return exchange.Answer{}, wire.NoSuchTransaction()
	}
	t, err := a.ledger.GetTransactionBatched(r.Context(), who.Sandbox, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return exchange.Answer{}, wire.NoSuchTransaction()
	}
	if err != nil {
		return exchange.Answer{}, err
	}
	return answered(http.StatusOK, wire.PaymentOf(t, who.Sandbox.Faults)), nil
}
