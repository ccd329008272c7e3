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
func (s *Server) repeat(w http.ResponseWriter, r *http.Request, f handler) (a answer, err error) {
	who, _ := r.Context().Value(sessionKey).(session) // none of a route that needs no key, which goes by no sandbox
	err = s.renewing(r.Context(), &who, func(ctx context.Context) error {
		a, err = f(w, r.WithContext(context.WithValue(ctx, sessionKey, who)))
		return err
	})
	return a, err
}

// renewing calls f, and calls it again with the current configuration of the session's sandbox while that changed. It returns
// [postgres.ErrConfigChanged] if it changes again and again.
func (s *Server) renewing(ctx context.Context, who *session, f func(ctx context.Context) error) error {
	err := f(ctx)
	for range maxTries {
		if !errors.Is(err, postgres.ErrConfigChanged) {
			break
		}
		if _, err := s.refreshSession(ctx, who); err != nil {
			return err
		}
		err = f(ctx)
	}
	return err
}
