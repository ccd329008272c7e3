package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// listRequests has all requests of the sandbox logged if it is asked for all.
func (s *Server) listRequests(_ http.ResponseWriter, r *http.Request) (answer, error) {
	sandbox := callerOf(r).Sandbox
	q := wire.RequestQuery{Limit: wire.DefaultLimit}
	if _, wrong := wire.RequestParameters.Read(r.URL.RawQuery, sandbox.Tenant, &q); len(wrong) > 0 {
		return answer{}, wire.InvalidParams(wrong)
	}
	if q.Filter.Succeeded {
		if err := s.service.LogAllRequests(r.Context(), callerOf(r)); err != nil {
			return answer{}, err
		}
	}
	found, err := s.requests.List(r.Context(), sandbox.Tenant, q.Filter, q.After, q.Limit+1)
	if err != nil {
		return answer{}, err
	}
	page := wire.RequestList{Data: []wire.LoggedRequest{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.LoggedRequestOf(&found[i], sandbox.Faults))
	}
	if page.HasMore {
		page.NextCursor = new(wire.RequestCursors.After(sandbox.Tenant, found[q.Limit-1].ID))
	}
	return answer{status: http.StatusOK, body: page}, nil
}
