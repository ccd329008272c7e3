package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// callerOf is who makes a request.
func callerOf(r *http.Request) *service.Caller {
	return r.Context().Value(callerKey).(*service.Caller)
}

// answerTimeout bounds all waiting of a request with a key. A write has its own limit, of package service, which begins after the body was
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
		hash := sandboxes.KeyHash(sha256.Sum256([]byte(key)))
		who, err := s.service.FindCaller(ctx, func() *service.Caller { return s.callerWith(r, hash) })
		if err != nil {
			if errors.Is(err, service.ErrUnauthorized) {
				s.metrics.AuthFailed(telemetry.AuthInvalid)
				s.stranger(w, r)
			}
			s.fail(w, r, err)
			return
		}
		w.(*response).logged.who = who
		s.tracing.Describe(r.Context(), "cauri.organization", who.Sandbox.OrganizationID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, callerKey, who)))
	})
}

// callerWith is who makes a request with a key; nil if the key does not open the sandbox that the path names.
func (s *Server) callerWith(r *http.Request, key sandboxes.KeyHash) *service.Caller {
	sandbox := s.sandboxOf(r, key)
	if sandbox == nil {
		return nil
	}
	return &service.Caller{Key: key, Sandbox: sandbox, Faults: requestFaults(r)}
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
		if callerOf(r).Sandbox.Suspended {
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
