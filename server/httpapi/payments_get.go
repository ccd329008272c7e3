package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

func (s *Server) getPayment(_ http.ResponseWriter, r *http.Request) (answer, error) {
	id, err := payments.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return answer{}, wire.NoSuchTransaction()
	}
	t, err := s.ledger.GetTransactionBatched(r.Context(), callerOf(r).Sandbox, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return answer{}, wire.NoSuchTransaction()
	}
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: wire.PaymentOf(t, callerOf(r).Sandbox.Faults)}, nil
}
