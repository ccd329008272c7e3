package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/service"
)

// openStream opens a stream of the sandbox's changes. Package streams documents its guarantees.
func (a *API) openStream(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	q, wrong := decode.ReadStreamQuery(w.Header(), r, who.Sandbox.Tenant)
	if len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	return a.streams.Open(r.Context(), who, httpfront.StreamOptions{Types: q.Types, After: q.After})
}
