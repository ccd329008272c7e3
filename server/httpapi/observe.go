package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/telemetry"
)

// observed is an answer of which the status is remembered.
type observed struct {
	http.ResponseWriter
	draining <-chan struct{} // closed when the process is told to stop

	status int
	span   telemetry.Span
	began  time.Time
	worked time.Duration // until the answer was there, which may be held after that
}

// Unwrap lets deadlines be set, see [http.ResponseController].
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (o *observed) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
		o.leave()
	}
	o.ResponseWriter.WriteHeader(status)
}

// leave asks the client for another connection once the process is told to stop: one that stays open would lead to this process
// until its end, and the request that is on its way at that moment would be lost. Connections that are idle are not closed
// for the same reason, as long as requests are accepted.
func (o *observed) leave() {
	select {
	case <-o.draining:
		o.Header().Set("Connection", "close")
	default:
	}
}

// Write implements [http.ResponseWriter].
func (o *observed) Write(body []byte) (int, error) {
	if o.status == 0 {
		o.WriteHeader(http.StatusOK)
	}
	return o.ResponseWriter.Write(body)
}

// observe begins to follow a request. The context that it returns is that of all that the request leads to.
func (s *Server) observe(w http.ResponseWriter, r *http.Request) (context.Context, *observed) {
	s.metrics.Begin()
	ctx, span := s.tracing.Serve(r)
	return ctx, &observed{ResponseWriter: w, draining: s.draining, span: span, began: s.now()}
}

// report tells what a request came to: in metrics, in its trace, and in one line of the log, at the level of debugging, since what
// fails is logged where it fails. None of them has the path or the query, which may hold numbers of payers.
func (s *Server) report(r *http.Request, o *observed, id string) {
	route := routeOf(r)
	if o.worked == 0 {
		o.worked = s.now().Sub(o.began)
	}
	s.metrics.End(route, r.Method, o.status, o.worked)
	o.span.Served(route, r.Method, id, o.status)
	if s.log.Enabled(r.Context(), slog.LevelDebug) {
		s.log.DebugContext(r.Context(), "request", "request", id, "method", r.Method, "route", route, "status", o.status,
			"duration", o.worked, "held", s.now().Sub(o.began)-o.worked)
	}
}
