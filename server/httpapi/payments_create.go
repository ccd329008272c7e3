package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (s *Server) createPayment(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.CreatePayment.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	made, err := s.service.Collect(r.Context(), callerOf(r), service.Ask{Order: body.Order(), Fingerprint: func(string) []byte {
		return wire.CreatePayment.Hash(payments.Collection, "", body)
	}})
	if err != nil {
		return answer{}, err
	}
	return created(r, made), nil
}

// created answers with a transaction, once its answer is due. A replay is answered at once.
func created(r *http.Request, made service.Recorded) answer {
	view := wire.PaymentOf(made.Transaction, callerOf(r).Sandbox.Faults)
	if made.Replayed {
		header := http.Header{"Idempotent-Replayed": {"true"}}
		return answer{status: http.StatusOK, header: header, body: view}
	}
	location := "/v1/payments/" + made.Transaction.ID.String()
	return answer{status: http.StatusCreated, location: location, body: view, due: made.AnswerAt, event: made.BeforeAnswer}
}
