package httpfront

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Bearer returns the bearer token of a request's header Authorization, for example an API key.
func Bearer(r *http.Request) (key string, ok bool) {
	scheme, key, found := strings.Cut(r.Header.Get("Authorization"), " ")
	key = strings.TrimSpace(key)
	return key, found && strings.EqualFold(scheme, "Bearer") && key != ""
}

// keyOf returns the hash of the API key of a request; given is false if the request has no key. For a request of
// [OnBehalf], it returns the hash of the key with which the session was made.
func keyOf(r *http.Request) (hash sandboxes.KeyHash, given bool) {
	if o := onBehalfOf(r.Context()); o != nil {
		callOf(r).logged.actor = o.Actor
		return o.Key, true
	}
	key, given := Bearer(r)
	return sha256.Sum256([]byte(key)), given
}

// admit returns the caller of a request by its API key, counts the request against the sandbox's rate limit, and sets
// the rate limit headers. It returns [service.ErrUnauthorized], [service.ErrSuspended] and [ErrRateLimited].
func (x *Pipeline) admit(w http.ResponseWriter, r *http.Request) (*service.Caller, error) {
	hash, given := keyOf(r)
	if !given {
		return nil, x.NoteUnauthenticated(r, telemetry.AuthMissing)
	}
	who, err := x.Find(r, func() *service.Caller { return x.callerWith(r, hash) })
	if err != nil {
		return nil, err
	}
	if who.Sandbox.Suspended {
		return nil, service.ErrSuspended
	}
	return who, x.limitRate(w, r, who)
}

// Find calls [service.Service.FindCaller] with find, and notes the result in the request's call. If find returns a
// caller, no query is sent. Find returns [service.ErrUnauthorized] for every invalid key.
func (x *Pipeline) Find(r *http.Request, find func() *service.Caller) (*service.Caller, error) {
	who, err := x.service.FindCaller(r.Context(), find)
	if errors.Is(err, service.ErrUnauthorized) {
		return nil, x.NoteUnauthenticated(r, telemetry.AuthInvalid)
	}
	if err != nil {
		return nil, err
	}
	callOf(r).caller = who
	x.tracing.Describe(r.Context(), "cauri.organization", who.Sandbox.OrganizationID)
	return who, nil
}

// NoteUnauthenticated counts a request without a valid key; reason is a constant of package telemetry. If the path
// names a sandbox, that sandbox's request log gets the request. NoteUnauthenticated returns [service.ErrUnauthorized].
func (x *Pipeline) NoteUnauthenticated(r *http.Request, reason string) error {
	x.metrics.AuthFailed(reason)
	if named, found := SandboxInPath(r); found {
		sandbox, exists := x.directory.ByName(named.Namespace, named.Name)
		if !exists {
			sandbox = &sandboxes.Sandbox{} // the entry takes the same time, and the database drops it
		}
		callOf(r).logged.unauthenticated = sandbox
	}
	return service.ErrUnauthorized
}

// NoteSession notes the caller of a request that is authenticated by a session. actor is the name of the caller in the
// request log.
func (x *Pipeline) NoteSession(r *http.Request, who *service.Caller, actor string) {
	c := callOf(r)
	c.caller, c.logged.actor = who, actor
	x.tracing.Describe(r.Context(), "cauri.organization", who.Sandbox.OrganizationID)
}

// NoteCaller notes the caller of a request to an unknown path, if the request has a valid key.
func (x *Pipeline) NoteCaller(r *http.Request) {
	if key, ok := Bearer(r); ok && x.directory != nil {
		callOf(r).caller = x.callerWith(r, sha256.Sum256([]byte(key)))
	}
}

// callerWith returns the caller of a request with this key; nil if sandboxOf returns nil.
func (x *Pipeline) callerWith(r *http.Request, key sandboxes.KeyHash) *service.Caller {
	sandbox := x.sandboxOf(r, key)
	if sandbox == nil {
		return nil
	}
	return &service.Caller{Key: key, Sandbox: sandbox, Faults: x.RequestFaults(r)}
}

// sandboxOf returns the sandbox that a key opens; nil if the key opens none, or if the path names another sandbox.
func (x *Pipeline) sandboxOf(r *http.Request, key sandboxes.KeyHash) *sandboxes.Sandbox {
	sandbox, ok := x.directory.ByKey(key)
	if !ok || !Names(r, sandbox) {
		return nil
	}
	return sandbox
}

// RequestFaults returns the fields of a /v1 request that decide which fault applies.
func (x *Pipeline) RequestFaults(r *http.Request) service.RequestFaults {
	f := service.RequestFaults{
		At: faults.AtRequest, Path: PathWithin(x.options.RoutedPath(r.URL)), ReadOnly: r.Method == http.MethodGet || isHead(r),
	}
	if !f.ReadOnly {
		f.Repeats = r.Method + " " + f.Path
	}
	return f
}

// limitRate counts a request against the sandbox's rate limit and sets the rate limit headers. It returns
// [ErrRateLimited] if the limit is reached.
func (x *Pipeline) limitRate(w http.ResponseWriter, r *http.Request, who *service.Caller) error {
	a, err := x.CountRequest(r.Context(), who)
	if err != nil || a.Limit == 0 {
		return err
	}
	a.describe(w.Header())
	if !a.Granted {
		return ErrRateLimited{a}
	}
	return nil
}

// CountRequest counts one request against the rate limit of the caller's sandbox. A reset sets the count to zero.
func (x *Pipeline) CountRequest(ctx context.Context, who *service.Caller) (a Allowance, err error) {
	err = x.service.Renewing(ctx, who, func(ctx context.Context) error {
		if a = (Allowance{Granted: true}); who.Sandbox.RateLimit == 0 {
			return nil
		}
		a, err = x.limiter.allow(ctx, who.Sandbox.Tenant, who.Sandbox.RateLimit)
		return err
	})
	return a, err
}
