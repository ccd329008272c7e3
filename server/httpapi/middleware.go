package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
)

type contextKey int

const (
	requestIDKey contextKey = iota
	lateAnswerKey
	pathSandboxKey
	pathPrefixKey
	sessionKey
)

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// identify puts the API's version and the request's id on every answer, and writes the ones that are held.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !requestIDForm.MatchString(id) {
			id = "req_" + rand.Text()
		}
		w.Header().Set("X-Service-Api-Version", APIVersion)
		w.Header().Set("X-Request-Id", id)
		ctx, observed := s.observe(w, r)
		defer s.report(r, observed, id)
		var late answer
		// A client that has sent its request may close its side of the connection and read on, which looks like one that went away. It
		// gets its whole answer.
		ctx = context.WithoutCancel(ctx)
		ctx = context.WithValue(context.WithValue(ctx, requestIDKey, id), lateAnswerKey, &late)
		next.ServeHTTP(observed, r.WithContext(ctx))
		observed.worked = s.now().Sub(observed.began)
		if !late.due.IsZero() {
			s.hold(r.Context(), &late)
			late.write(observed)
		}
		if observed.status == 0 {
			panic(http.ErrAbortHandler) // net/http would answer 200 without a body
		}
	})
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}

// recoverPanic answers a request whose handler panicked, and keeps serving the others.
func (s *Server) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				s.fail(w, r, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// sandboxName names the sandbox that a path belongs to.
type sandboxName struct{ namespace, name string }

// anyPathForm lets every route answer under its four forms: /v1, /api/v1, and both behind /sandboxes/{namespace}/{name}. The
// router sees the first only.
func anyPathForm(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, path := r.Context(), r.URL.Path
		if rest, found := strings.CutPrefix(path, "/sandboxes/"); found {
			parts := strings.SplitN(rest, "/", 3)
			if len(parts) == 3 {
				ctx = context.WithValue(ctx, pathSandboxKey, sandboxName{parts[0], parts[1]})
				path = "/" + parts[2]
			}
		}
		if rest, found := strings.CutPrefix(path, "/api/v1/"); found {
			path = "/v1/" + rest
		}
		if path != r.URL.Path {
			ctx = context.WithValue(ctx, pathPrefixKey, strings.TrimSuffix(r.URL.Path, path))
			r = r.WithContext(ctx)
			url := *r.URL
			url.Path, url.RawPath = path, ""
			r.URL = &url
		}
		next.ServeHTTP(w, r)
	})
}

// pathTo is a path of the API in the form in which the caller came, since another form may not be open to it.
func pathTo(ctx context.Context, path string) string {
	prefix, _ := ctx.Value(pathPrefixKey).(string)
	return prefix + path
}
