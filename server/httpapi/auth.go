package httpapi

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// session is who makes a request.
type session struct {
	key     sandboxes.KeyHash
	sandbox *sandboxes.Sandbox
	out     *response
}

func sessionOf(r *http.Request) session {
	return r.Context().Value(sessionKey).(session)
}

// answerTimeout bounds all waiting of a request with a key. A write has its own limit, bookingTimeout, which begins after the body was
// read.
const answerTimeout = 10 * time.Second

// authenticate lets requests through that carry a key of the sandbox that they are made to. It needs no round trip for a key
// that is known.
func (s *Server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, ok := bearer(r)
		if !ok {
			s.metrics.AuthFailed(telemetry.AuthMissing)
			s.stranger(w, r)
			s.fail(w, r, wire.Unauthorized())
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		who := session{key: sha256.Sum256([]byte(key)), out: w.(*response)}
		if who.sandbox = s.sandboxOf(r, who.key); who.sandbox == nil {
			// The key may be seconds old and the directory not have seen it. Whatever is wrong with it, the answer takes the same way.
			if err := s.directory.Refresh(ctx); err != nil {
				s.fail(w, r, err)
				return
			}
			if who.sandbox = s.sandboxOf(r, who.key); who.sandbox == nil {
				s.metrics.AuthFailed(telemetry.AuthInvalid)
				s.stranger(w, r)
				s.fail(w, r, wire.Unauthorized())
				return
			}
		}
		w.(*response).logged.who = who
		s.tracing.Describe(r.Context(), "cauri.organization", who.sandbox.OrganizationID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, sessionKey, who)))
	})
}

// sandboxOf is the sandbox of a key, if it is the one that the path names, or nil.
func (s *Server) sandboxOf(r *http.Request, key sandboxes.KeyHash) *sandboxes.Sandbox {
	sandbox, ok := s.directory.ByKey(key)
	if !ok {
		return nil
	}
	if named, inPath := sandboxInPath(r); inPath &&
		named != (sandboxName{sandbox.Namespace, sandbox.Name}) {
		return nil
	}
	return sandbox
}

// refuseSuspended answers for a sandbox that is suspended, whose key is known.
func (s *Server) refuseSuspended(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sessionOf(r).sandbox.Suspended {
			s.fail(w, r, wire.Suspended())
			return
		}
		next.ServeHTTP(w, r)
	})
}

func bearer(r *http.Request) (key string, ok bool) {
	scheme, key, found := strings.Cut(r.Header.Get("Authorization"), " ")
	key = strings.TrimSpace(key)
	return key, found && strings.EqualFold(scheme, "Bearer") && key != ""
}
