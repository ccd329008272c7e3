package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (s *Server) listAccounts(_ http.ResponseWriter, r *http.Request) (answer, error) {
	tenant := callerOf(r).Sandbox.Tenant
	q := wire.LedgerQuery{Limit: wire.DefaultLimit}
	if _, wrong := wire.LedgerParameters.Read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return answer{}, wire.InvalidParams(wrong)
	}
	if q.Verify {
		if err := s.service.VerifyLedger(r.Context(), callerOf(r)); err != nil {
			return answer{}, err
		}
	}
	found, balanced, err := s.books.ListAccounts(r.Context(), tenant, q.Account(), q.Limit+1)
	if err != nil {
		return answer{}, err
	}
	page := wire.LedgerAccountList{Balanced: balanced, Data: []wire.LedgerAccount{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.LedgerAccountOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(wire.LedgerCursors.After(tenant, wire.LedgerPlace(found[q.Limit-1].Account)))
	}
	return answer{status: http.StatusOK, body: page}, nil
}
