package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) listEvents(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	sandbox := who.Sandbox
	tenant := sandbox.Tenant
	q := wire.EventQuery{Limit: wire.DefaultLimit}
	if _, wrong := wire.EventParameters.Read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return exchange.Answer{}, wire.InvalidParams(wrong)
	}
	found, err := a.ledger.ListEvents(r.Context(), tenant, q.Filter, q.After, q.Limit+1)
	if err != nil {
		return exchange.Answer{}, err
	}
	page := wire.EventList{Data: []wire.EventSummary{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.EventSummaryOf(&found[i], sandbox.Faults))
	}
	if page.HasMore {
		page.NextCursor = new(wire.AfterEvent(tenant, found[q.Limit-1].EventID()))
	}
	return answered(http.StatusOK, page), nil
}
