package native

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// admit finds the sandbox of a request. It counts the request against the sandbox's rate limit if the key is a secret.
// If route is nil, the path is unknown, and admit returns an error.
func (s *sandbox) admit(r *http.Request, route *operatorapi.Route) error {
	if err := s.enter(r); err != nil {
		if route == nil && s.api.PathFirst {
			return s.noRoute(r)
		}
		return s.asCredential(err, route)
	}
	if s.api.NeedsLength && lacksLength(r) {
		return operatorapi.Refuse(operatorapi.NoLength)
	}
	if route == nil {
		return s.noRoute(r)
	}
	if s.api.KeyHeader == "" {
		return nil // the key is only the user's id, so the request counts after its token or password was checked
	}
	return s.count(r.Context())
}

// lacksLength reports whether a POST has no body and does not say so. HTTP/2 needs no length.
func lacksLength(r *http.Request) bool {
	return r.Method == http.MethodPost && r.ProtoMajor == 1 && r.ContentLength == 0 && r.Header.Get("Content-Length") == ""
}

// noRoute returns the refusal of a path or a method that the API does not have. Its Allow has the methods of the path.
func (s *sandbox) noRoute(r *http.Request) error {
	refusal := operatorapi.Refuse(operatorapi.NoRoute)
	routes := chi.RouteContext(r.Context()).Routes
	for _, alike := range [][]string{{http.MethodGet, http.MethodHead}, {http.MethodPost}} {
		found := routes.Find(chi.NewRouteContext(), alike[0], RoutedPath(r.URL))
		isBase := strings.HasSuffix(strings.TrimSuffix(found, "/"), prefix+string(s.api.Operator)) // registered for all methods
		if found != "" && !strings.HasSuffix(found, "*") && !isBase {
			refusal.Allow = append(refusal.Allow, alike...)
		}
	}
	return refusal
}

// count counts a request against the rate limit of the sandbox. It returns an error if the limit is reached, or if the
// sandbox is suspended.
func (s *sandbox) count(ctx context.Context) error {
	if s.who.Sandbox.Suspended {
		return service.ErrSuspended
	}
	allowed, err := s.native.pipeline.CountRequest(ctx, s.who)
	if err == nil && !allowed.Granted {
		err = httpfront.ErrRateLimited{Allowance: allowed}
	}
	return err
}

// asCredential replaces the refusal of a key by that of the user or of the token, if the API has no other key. It
// returns any other error unchanged.
func (s *sandbox) asCredential(err error, route *operatorapi.Route) error {
	if s.api.KeyHeader != "" || !operatorapi.IsRefused(err, operatorapi.KeyMissing) && !operatorapi.IsRefused(err, operatorapi.KeyInvalid) {
		return err
	}
	if route != nil && route.Access == operatorapi.ByUser {
		return operatorapi.Refuse(operatorapi.UserInvalid).Say(s.unreadableLogin(route))
	}
	refusal := operatorapi.Refuse(operatorapi.TokenInvalid)
	if _, given := httpfront.Bearer(s.request); !given {
		refusal.Token = operatorapi.NoToken
	}
	return refusal
}

// unreadableLogin returns why the body of a request for a token cannot be read. It returns "" if the body is readable,
// or if it should not have the user and the password.
func (s *sandbox) unreadableLogin(route *operatorapi.Route) string {
	sent := s.sent()
	form := strings.HasPrefix(s.request.Header.Get("Content-Type"), operatorapi.FormType)
	if len(sent) == 0 || route.Doc.Body == "" || route.Doc.Form || form {
		return ""
	}
	return (&operatorapi.Request{Header: s.request.Header, Body: sent}).Unreadable(operatorapi.UserInvalid).Detail
}

// enter finds the sandbox of a request by the key of the operator's API. For a wrong key, the error is the same on
// every path, so that it does not reveal whether a sandbox exists.
func (s *sandbox) enter(r *http.Request) error {
	key := s.api.Key(r, s.sent)
	if key == "" {
		_ = s.native.pipeline.NoteUnauthenticated(r, telemetry.AuthMissing)
		return operatorapi.Refuse(operatorapi.KeyMissing)
	}
	_, err := s.native.pipeline.Find(r, func() *service.Caller { return s.find(r, hashOf(key)) })
	if errors.Is(err, service.ErrUnauthorized) {
		return operatorapi.Refuse(operatorapi.KeyInvalid)
	}
	return err
}

// find returns the caller whose key of the operator's API has this hash. It returns nil if no sandbox has the key, or
// if the sandbox has no enabled environment of the operator.
func (s *sandbox) find(r *http.Request, key sandboxes.KeyHash) *service.Caller {
	opened, holder, ok := s.native.directory.ByNativeKey(s.api.Operator, key)
	if !ok || !httpfront.Names(r, opened) {
		return nil
	}
	f := s.native.pipeline.RequestFaults(r)
	f.At, f.Operator = faults.AtOperator, s.api.Operator
	s.who, s.digest = &service.Caller{Key: holder.APIKey, Sandbox: opened, Faults: f}, holder.Digest
	if len(s.Environments()) == 0 {
		return nil
	}
	return s.who
}
