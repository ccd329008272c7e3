package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (s *Server) meta(http.ResponseWriter, *http.Request) (answer, error) {
	return answer{status: http.StatusOK, body: wire.MetaOfThisVersion()}, nil
}

// healthTimeout bounds how long the database may take to count as there.
const healthTimeout = 2 * time.Second

func (s *Server) health(_ http.ResponseWriter, r *http.Request) (answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	if err := s.directory.Refresh(ctx); err != nil { // which all who ask at one time share
		return answer{
			status: http.StatusServiceUnavailable, header: http.Header{"Retry-After": {"1"}}, body: wire.Health{Status: "unavailable"},
		}, nil
	}
	return answer{status: http.StatusOK, body: wire.Health{Status: "ok", Version: s.version}}, nil
}
