package httpapi

import (
	"net/http"
)

func (s *Server) listPayments(_ http.ResponseWriter, r *http.Request) (answer, error) {
	tenant := sessionOf(r).sandbox.Tenant
	q, err := parseListQuery(r.URL.RawQuery, tenant)
	if err != nil {
		return answer{}, err
	}
	found, err := s.store.ListTransactions(r.Context(), tenant, q.filter, q.after, q.limit+1)
	if err != nil {
		return answer{}, err
	}
	page := listView{Data: []paymentView{}, HasMore: len(found) > q.limit}
	for _, t := range found[:min(len(found), q.limit)] {
		page.Data = append(page.Data, viewOf(t))
	}
	if page.HasMore {
		cursor := paymentCursors.after(tenant, found[q.limit-1].ID)
		page.NextCursor = &cursor
	}
	return answer{status: http.StatusOK, body: page}, nil
}
