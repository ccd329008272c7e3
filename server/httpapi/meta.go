package httpapi

import (
	"context"
	"net/http"
	"time"
)

// metaView is the answer of GET /v1/meta.
type metaView struct {
	APIVersion    string   `json:"api_version" doc:"Date-based version of the API." example:"2026-05-31"`
	Capabilities  []string `json:"capabilities" doc:"Names to detect features by."`
	MinSDKVersion string   `json:"min_sdk_version" doc:"The oldest client library that is recommended." example:"0.2.0"`
	ChangelogURL  string   `json:"changelog_url" format:"uri" doc:"Where changes are written down."`
}

func (s *Server) meta(http.ResponseWriter, *http.Request) (answer, error) {
	return answer{status: http.StatusOK, body: metaView{APIVersion, Capabilities, MinSDKVersion, ChangelogURL}}, nil
}

// healthView is the answer of GET /v1/health.
type healthView struct {
	Status  string `json:"status" enum:"ok,unavailable"`
	Version string `json:"version,omitempty" doc:"Of the program that answers."`
}

// healthTimeout bounds how long the database may take to count as there.
const healthTimeout = 2 * time.Second

func (s *Server) health(_ http.ResponseWriter, r *http.Request) (answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	if err := s.directory.Refresh(ctx); err != nil { // which all who ask at one time share
		return answer{
			status: http.StatusServiceUnavailable, header: http.Header{"Retry-After": {"1"}}, body: healthView{Status: "unavailable"},
		}, nil
	}
	return answer{status: http.StatusOK, body: healthView{Status: "ok", Version: s.version}}, nil
}
