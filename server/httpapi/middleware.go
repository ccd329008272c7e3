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
	pathSandboxKey
	sessionKey
)

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// identify puts the API's version and the request's id on every answer.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !requestIDForm.MatchString(id) {
			id = "req_" + rand.Text()
		}
		w.Header().Set("X-Service-Api-Version", APIVersion)
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey, id)))
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
			r = r.WithContext(ctx)
			url := *r.URL
			url.Path, url.RawPath = path, ""
			r.URL = &url
		}
		next.ServeHTTP(w, r)
	})
}
