package httpapi

import (
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// reset needs no body and ignores one.
func (s *Server) reset(_ http.ResponseWriter, r *http.Request) (answer, error) {
	who := callerOf(r)
	err := s.service.Reset(r.Context(), who)
	if errors.Is(err, sandboxes.ErrTooManyResets) {
		err = wire.TooManyResets()
	}
	return answer{status: http.StatusOK, body: wire.Reset{OrganizationID: who.Sandbox.OrganizationID}}, err
}
