package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// response is what a handler answers through. A handler either writes its answer or leaves it in late.
type response struct {
	http.ResponseWriter
	request  *http.Request
	draining <-chan struct{} // closed when the process is told to stop
	unread   *unreadAnswers

	status int    // that was written
	late   answer // [Server.identify] writes it when it is due; its due time is zero if there is none
	span   telemetry.Span
	began  time.Time
	worked time.Duration // until the answer was there, which may be held after that
	logged loggedRequest // what the request log may keep of it
}

// Unwrap lets deadlines be set, see [http.ResponseController].
func (o *response) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// organization is the one of the sandbox whose request it is, empty if it is nobody's.
func (o *response) organization() string {
	if o.logged.who == nil {
		return ""
	}
	return o.logged.who.Sandbox.OrganizationID
}

// fault is the one that applies to the answer; nil for none.
func (o *response) fault() *faults.Fault {
	if o.logged.who == nil {
		return nil
	}
	return o.logged.who.Faults.ToAnswer
}

// WriteHeader implements [http.ResponseWriter].
func (o *response) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
		o.leave()
	}
	o.ResponseWriter.WriteHeader(status)
}

// leave asks the client for another connection once the process is told to stop: one that stays open would lead to this process
// until its end, and the request that is on its way at that moment would be lost. Connections that are idle are not closed
// for the same reason, as long as requests are accepted.
func (o *response) leave() {
	select {
	case <-o.draining:
		o.Header().Set("Connection", "close")
	default:
	}
}

// Write implements [http.ResponseWriter].
func (o *response) Write(body []byte) (int, error) {
	if o.status == 0 {
		o.WriteHeader(http.StatusOK)
	}
	o.logged.write(body, o.status, o.began)
	return o.ResponseWriter.Write(body)
}

// observe begins to follow a request. The context that it returns is that of all that the request leads to.
func (s *Server) observe(w http.ResponseWriter, r *http.Request) (context.Context, *response) {
	s.metrics.Begin()
	ctx, span := s.tracing.Serve(r)
	return ctx, &response{ResponseWriter: w, request: r, draining: s.draining, unread: s.unread, span: span, began: s.now()}
}

// report tells what a request came to: in the request log of its sandbox, in metrics, in its trace, and in one line of the log, at the
// level of debugging, since what fails is logged where it fails. The last three never have the path or the query, which may hold numbers
// of payers.
func (s *Server) report(r *http.Request, o *response, id string) {
	route := routeOf(r)
	if o.worked == 0 {
		o.worked = s.now().Sub(o.began)
	}
	s.metrics.End(route, r.Method, o.status, o.worked)
	o.span.Served(route, r.Method, id, o.status)
	s.logRequest(r, o, route, id)
	if s.log.Enabled(r.Context(), slog.LevelDebug) {
		s.log.DebugContext(r.Context(), "request", "request", id, "method", r.Method, "route", route, "status", o.status,
			"duration", o.worked, "held", s.now().Sub(o.began)-o.worked)
	}
}
