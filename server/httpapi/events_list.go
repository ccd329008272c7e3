package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (s *Server) listEvents(_ http.ResponseWriter, r *http.Request) (answer, error) {
	sandbox := callerOf(r).Sandbox
	tenant := sandbox.Tenant
	q := wire.EventQuery{Limit: wire.DefaultLimit}
	if _, wrong := wire.EventParameters.Read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return answer{}, wire.InvalidParams(wrong)
	}
	found, err := s.ledger.ListEvents(r.Context(), tenant, q.Filter, q.After, q.Limit+1)
	if err != nil {
		return answer{}, err
	}
	page := wire.EventList{Data: []wire.EventSummary{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.EventSummaryOf(&found[i], sandbox.Faults))
	}
	if page.HasMore {
		page.NextCursor = new(wire.AfterEvent(tenant, found[q.Limit-1].EventID()))
	}
	return answer{status: http.StatusOK, body: page}, nil
}
