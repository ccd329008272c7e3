package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (s *Server) listPayments(_ http.ResponseWriter, r *http.Request) (answer, error) {
	sandbox := callerOf(r).Sandbox
	tenant := sandbox.Tenant
	q, err := wire.ParsePaymentQuery(r.URL.RawQuery, tenant)
	if err != nil {
		return answer{}, err
	}
	found, err := s.ledger.ListTransactions(r.Context(), tenant, q.Filter, q.After, q.Limit+1)
	if err != nil {
		return answer{}, err
	}
	page := wire.PaymentList{Data: []wire.Payment{}, HasMore: len(found) > q.Limit}
	for _, t := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.PaymentOf(t, sandbox.Faults))
	}
	if page.HasMore {
		cursor := wire.PaymentCursors.After(tenant, found[q.Limit-1].ID)
		page.NextCursor = &cursor
	}
	return answer{status: http.StatusOK, body: page}, nil
}
