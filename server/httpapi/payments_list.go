package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) listPayments(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	sandbox := who.Sandbox
	tenant := sandbox.Tenant
	q, err := wire.ParsePaymentQuery(r.URL.RawQuery, tenant)
	if err != nil {
		return exchange.Answer{}, err
	}
	found, err := a.ledger.ListTransactions(r.Context(), tenant, q.Filter, q.After, q.Limit+1)
	if err != nil {
		return exchange.Answer{}, err
	}
	page := wire.PaymentList{Data: []wire.Payment{}, HasMore: len(found) > q.Limit}
	for _, t := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.PaymentOf(t, sandbox.Faults))
	}
	if page.HasMore {
		cursor := wire.PaymentCursors.After(tenant, found[q.Limit-1].ID)
		page.NextCursor = &cursor
	}
	return answered(http.StatusOK, page), nil
}
