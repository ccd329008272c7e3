package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/service"
)

// reset needs no body and ignores one.
func (a *API) reset(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	err := a.service.Reset(r.Context(), who)
	return answered(http.StatusOK, wire.Reset{OrganizationID: who.Sandbox.OrganizationID}), err
}
