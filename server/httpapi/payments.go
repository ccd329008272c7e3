package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) createPayment(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	body, err := decode.CreatePayment.Decode(w, r, who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	fingerprint := func(string) []byte { return decode.CreatePayment.Hash(payments.Collection, "", body) }
	recorded, err := a.service.Collect(r.Context(), who, service.Order{Order: body.Order(), Fingerprint: fingerprint})
	if err != nil {
		return httpfront.Answer{}, conflict(err, decode.CreatePayment, payments.Collection, "", body)
	}
	return created(r, who, recorded), nil
}

// created returns the answer with a recorded transaction, and when it is due. The answer to a repeated request is due
// at once.
func created(r *http.Request, who *service.Caller, recorded service.Recorded) httpfront.Answer {
	payment := view.PaymentOf(recorded.Transaction, who.Sandbox.Faults)
	if recorded.Replayed {
		return replayed(payment)
	}
	a := answered(http.StatusCreated, payment)
	a.Header = http.Header{"Location": {httpfront.PathTo(r, "/v1/payments/"+recorded.Transaction.ID.String())}}
	a.Due, a.Before, a.Hint = recorded.AnswerAt, recorded.BeforeAnswer, recorded.Hint
	return a
}

// replayed returns the answer to a repeated request.
func replayed(body any) httpfront.Answer {
	a := answered(http.StatusOK, body)
	a.Header = http.Header{"Idempotent-Replayed": {"true"}}
	return a
}

func (a *API) getPayment(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	id, err := payments.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return httpfront.Answer{}, view.NoSuchTransaction()
	}
	t, err := a.ledger.GetTransactionBatched(r.Context(), who.Sandbox, id)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchTransaction())
	}
	return answered(http.StatusOK, view.PaymentOf(t, who.Sandbox.Faults)), nil
}

func (a *API) listPayments(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	sandbox := who.Sandbox
	tenant := sandbox.Tenant
	q, err := decode.ParsePaymentQuery(w.Header(), r.URL.RawQuery, sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	var found []*payments.Transaction
	if q.Before != nil {
		found, err = a.ledger.ListNewerTransactions(r.Context(), tenant, q.Filter, *q.Before, q.Limit+1)
	} else {
		found, err = a.ledger.ListTransactions(r.Context(), tenant, q.Filter, q.After, q.Limit+1)
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	rows, newer, older := lists.Page(found, q.Limit, q.After != nil, q.Before != nil)
	page := wire.PaymentList{Data: []wire.Payment{}, HasMore: older}
	for _, t := range rows {
		page.Data = append(page.Data, view.PaymentOf(t, sandbox.Faults))
	}
	if older {
		page.NextCursor = new(decode.PaymentCursors.After(tenant, rows[len(rows)-1].ID))
	}
	if newer {
		page.PreviousCursor = new(decode.PaymentCursors.Before(tenant, rows[0].ID))
	}
	return answered(http.StatusOK, page), nil
}
