package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/server/postgres"
)

// presently answers a request by f. A sandbox that was reset since the directory read it has another tenant now: f is asked
// again then, with the present one, so that nobody is answered from what is gone. A request with a body, which can be read
// once only, looks after itself: see [Server.once].
func (s *Server) presently(w http.ResponseWriter, r *http.Request, f handler) (answer, error) {
	a, err := f(w, r)
	for range maxTries {
		if !errors.Is(err, postgres.ErrConfigChanged) || r.ContentLength != 0 {
			break
		}
		if r, err = s.renewed(r); err != nil {
			break
		}
		a, err = f(w, r)
	}
	return a, err
}

// renewed is a request with the present configuration of its sandbox.
func (s *Server) renewed(r *http.Request) (*http.Request, error) {
	who := sessionOf(r)
	if _, err := s.refreshSession(r.Context(), &who); err != nil {
		return r, err
	}
	return r.WithContext(context.WithValue(r.Context(), sessionKey, who)), nil
}
