package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
)

func (a *API) meta(http.ResponseWriter, *http.Request) (httpfront.Answer, error) {
	return answered(http.StatusOK, wire.MetaOfThisVersion()), nil
}

// noOperation refuses the description of an operation that does not exist.
func (a *API) noOperation(http.ResponseWriter, *http.Request) (httpfront.Answer, error) {
	return httpfront.Answer{}, view.InvalidParams(wire.FieldErrors{apidoc.SliceParameter: {"must be one of " + strings.Join(apidoc.IDs(), ", ")}})
}

// healthTimeout bounds the query to the database. After it, the health is `unavailable`.
const healthTimeout = 2 * time.Second

func (a *API) health(_ http.ResponseWriter, r *http.Request) (httpfront.Answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	if err := a.directory.Refresh(ctx); err != nil { // concurrent requests share one refresh
		answer := answered(http.StatusServiceUnavailable, wire.Health{Status: "unavailable"})
		answer.Header = http.Header{"Retry-After": {"1"}}
		return answer, nil
	}
	return answered(http.StatusOK, wire.Health{Status: "ok", Version: a.version}), nil
}
