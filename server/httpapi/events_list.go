package httpapi

import (
	"net/http"
)

func (s *Server) listEvents(_ http.ResponseWriter, r *http.Request) (answer, error) {
	tenant := sessionOf(r).sandbox.Tenant
	q := eventQuery{limit: defaultLimit}
	if _, wrong := eventParameters.read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return answer{}, invalidParams(wrong)
	}
	found, err := s.store.ListEvents(r.Context(), tenant, q.filter, q.after, q.limit+1)
	if err != nil {
		return answer{}, err
	}
	page := eventListView{Data: []EventSummary{}, HasMore: len(found) > q.limit}
	for i := range found[:min(len(found), q.limit)] {
		page.Data = append(page.Data, eventSummaryOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(eventCursors.after(tenant, found[q.limit-1].ID))
	}
	return answer{status: http.StatusOK, body: page}, nil
}
