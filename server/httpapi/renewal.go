package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/server/postgres"
)

// current answers a request by f. It repeats f for a configuration that changed, unless the request has a body, which can be read once
// only: such a handler looks after itself, see [Server.once].
func (s *Server) current(w http.ResponseWriter, r *http.Request, f handler) (answer, error) {
	if r.ContentLength != 0 {
		return f(w, r)
	}
	return s.repeat(w, r, f)
}

// repeat answers a request by f. A sandbox that was reset since the directory read it has another tenant now: f is called again then,
// with the current one, so that nobody gets an answer from what is gone.
func (s *Server) repeat(w http.ResponseWriter, r *http.Request, f handler) (answer, error) {
	a, err := f(w, r)
	for range maxTries {
		if !errors.Is(err, postgres.ErrConfigChanged) {
			break
		}
		if r, err = s.renewed(r); err != nil {
			break
		}
		a, err = f(w, r)
	}
	return a, err
}

// renewed is a request with the current configuration of its sandbox.
func (s *Server) renewed(r *http.Request) (*http.Request, error) {
	who := sessionOf(r)
	if _, err := s.refreshSession(r.Context(), &who); err != nil {
		return r, err
	}
	return r.WithContext(context.WithValue(r.Context(), sessionKey, who)), nil
}
