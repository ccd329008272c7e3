package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/service"
)

// listRequests lists logged requests. With all=true, it also makes the sandbox log all requests for a while.
func (a *API) listRequests(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	sandbox := who.Sandbox
	q := wire.RequestQuery{Limit: wire.DefaultLimit}
	if _, wrong := wire.RequestParameters.Read(r.URL.RawQuery, sandbox.Tenant, &q); len(wrong) > 0 {
		return exchange.Answer{}, wire.InvalidParams(wrong)
	}
	if q.Filter.Succeeded {
		if err := a.service.LogAllRequests(r.Context(), who); err != nil {
			return exchange.Answer{}, err
		}
	}
	found, err := a.requests.List(r.Context(), sandbox.Tenant, q.Filter, q.After, q.Limit+1)
	if err != nil {
		return exchange.Answer{}, err
	}
	page := wire.RequestList{Data: []wire.LoggedRequest{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.LoggedRequestOf(&found[i], sandbox.Faults))
	}
	if page.HasMore {
		page.NextCursor = new(wire.RequestCursors.After(sandbox.Tenant, found[q.Limit-1].ID))
	}
	return answered(http.StatusOK, page), nil
}
