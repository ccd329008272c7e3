package httpfront

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/requests"
)

// Use adds the middleware of all requests to a router. fallback writes the answer after a panic outside of all
// handlers.
func (x *Pipeline) Use(router chi.Router, fallback *Front) {
	router.Use(x.carry, x.recoverPanic(fallback), x.byRoutedPath)
}

// carry is the outermost middleware. It sets the headers with the API's version and the request's id, and reports the
// request after its answer. It also writes held answers, because the goroutine's stack is small outside of all
// handlers.
func (x *Pipeline) carry(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !requests.IDForm.MatchString(id) {
			id = newRequestID()
		}
		w.Header().Set("X-Service-Api-Version", x.options.Version)
		w.Header().Set("X-Request-Id", id)
		c := x.begin(w, r, id)
		defer x.report(r, c)
		answered := r.WithContext(c)
		c.logged.sent.record(answered)
		next.ServeHTTP(&c.out, answered)
		c.worked = x.now().Sub(c.began)
		if c.late != nil {
			x.writeLate(r, c)
		}
		if c.out.status == 0 || c.cut {
			panic(http.ErrAbortHandler) // net/http would answer 200 without a body, or end the body that is not complete
		}
	})
}

// newRequestID returns a random id. It is no secret, so it needs no random numbers of the system.
func newRequestID() string {
	var random [16]byte
	binary.LittleEndian.PutUint64(random[:], rand.Uint64())
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64())
	return "req_" + base32.StdEncoding.EncodeToString(random[:15])
}

// begin starts the span, the metrics and the call of a request. The context of the call has the span.
func (x *Pipeline) begin(w http.ResponseWriter, r *http.Request, id string) *call {
	x.metrics.Begin()
	ctx, span := x.tracing.Serve(r)
	// A client may close its side of the connection after the request, and still read. net/http cancels the context as
	// if the client had disconnected. WithoutCancel makes the handler answer such a client.
	c := &call{Context: context.WithoutCancel(ctx), id: id, request: r, span: span, began: x.now()}
	c.out = response{ResponseWriter: w, draining: x.draining, answered: c}
	return c
}

// recoverPanic answers a request after a panic of its handler, so that the process continues.
func (x *Pipeline) recoverPanic(front *Front) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				switch cause := recover(); cause {
				case nil:
				case http.ErrAbortHandler:
					panic(cause)
				default:
					a := front.Failed(r, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
					x.write(w, callOf(r), &a)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// routedMethods are the methods that the router knows.
var routedMethods = []string{
	http.MethodConnect, http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost,
	http.MethodPut, http.MethodTrace,
}

// byRoutedPath makes the router match the path of [Options.RoutedPath]. It routes HEAD as GET (RFC 9110, section
// 9.3.2). It routes a method that the router does not know as TRACE: otherwise the router would refuse the method
// before it matches the path. No route is for TRACE only.
func (x *Pipeline) byRoutedPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		routed := chi.RouteContext(r.Context())
		routed.RoutePath = x.options.RoutedPath(r.URL)
		if !slices.Contains(routedMethods, r.Method) {
			routed.RouteMethod = http.MethodTrace
		} else if isHead(r) {
			routed.RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// isHead reports whether the answer to a request is that to GET without its body. net/http leaves the body out.
func isHead(r *http.Request) bool { return r.Method == http.MethodHead }
