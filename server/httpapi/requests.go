package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/service"
)

// listRequests lists logged requests. With all=true, it also makes the sandbox log all requests for a while.
func (a *API) listRequests(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	sandbox := who.Sandbox
	q := decode.RequestQuery{Limit: wire.DefaultLimit}
	if _, wrong := decode.RequestParameters.Read(w.Header(), r.URL.RawQuery, sandbox.Tenant, &q); len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	if q.Filter.Succeeded {
		if err := a.service.LogAllRequests(r.Context(), who); err != nil {
			return httpfront.Answer{}, err
		}
	}
	var found []requests.Entry
	var err error
	if q.Before != nil {
		found, err = a.requests.ListNewer(r.Context(), sandbox.Tenant, q.Filter, *q.Before, q.Limit+1)
	} else {
		found, err = a.requests.List(r.Context(), sandbox.Tenant, q.Filter, q.After, q.Limit+1)
	}
	if err != nil {
		return httpfront.Answer{}, err
	}
	rows, newer, older := lists.Page(found, q.Limit, q.After != nil, q.Before != nil)
	page := wire.RequestList{Data: []wire.LoggedRequest{}, HasMore: older}
	for i := range rows {
		page.Data = append(page.Data, view.LoggedRequestOf(&rows[i], sandbox.Faults))
	}
	if older {
		page.NextCursor = new(decode.RequestCursors.After(sandbox.Tenant, rows[len(rows)-1].ID))
	}
	if newer {
		page.PreviousCursor = new(decode.RequestCursors.Before(sandbox.Tenant, rows[0].ID))
	}
	return answered(http.StatusOK, page), nil
}
