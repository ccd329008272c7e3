package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

type contextKey int

const (
	requestIDKey contextKey = iota
	callerKey
)

// identify puts the API's version and the request's id on every answer, and writes the ones that are held.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !wire.RequestIDForm.MatchString(id) {
			id = "req_" + rand.Text()
		}
		w.Header().Set("X-Service-Api-Version", wire.APIVersion)
		w.Header().Set("X-Request-Id", id)
		ctx, out := s.observe(w, r)
		defer s.report(r, out, id)
		// A client that has sent its request may close its side of the connection and read on, which looks like one that went away. It
		// gets its whole answer.
		ctx = context.WithoutCancel(ctx)
		answered := r.WithContext(context.WithValue(ctx, requestIDKey, id))
		out.logged.follow(answered)
		next.ServeHTTP(out, answered)
		out.worked = s.now().Sub(out.began)
		if !out.late.due.IsZero() {
			if out.fault() == nil { // which may drop the connection
				out.logged.settle(out.late.status, out.began)
			}
			s.hold(r.Context(), &out.late)
			out.late.write(out)
		}
		if out.late.listener != nil {
			s.tell(out, out.late.listener)
		}
		if out.status == 0 {
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

// byDecodedPath lets the router go by the path as it is meant, however it was escaped: %2B is a +.
func byDecodedPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chi.RouteContext(r.Context()).RoutePath = nativePath(r.URL.Path)
		next.ServeHTTP(w, r)
	})
}
