package httpfront

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/cauri-dev/cauri/server/postgres"
)

// report records the result of a request in the request log of its sandbox, in metrics, in its trace, and in one debug
// line. LogFailure logs errors. Metrics, trace and debug line never contain the path or the query, because these may
// contain numbers of payers.
func (x *Pipeline) report(r *http.Request, c *call) {
	route := RouteOf(r)
	if c.worked == 0 {
		c.worked = x.now().Sub(c.began)
	}
	x.metrics.End(route, r.Method, c.out.status, c.worked)
	c.span.Served(route, r.Method, c.id, c.out.status)
	x.logRequest(r, c, route)
	if x.log.Enabled(r.Context(), slog.LevelDebug) {
		x.log.DebugContext(r.Context(), "request", "request", c.id, "method", r.Method, "route", route, "status", c.out.status,
			"duration", c.worked, "held", x.now().Sub(c.began)-c.worked)
	}
}

// LogFailure logs an error whose details the caller does not get. It does not log errors of an overloaded database,
// because there may be thousands. Metrics count these.
func (x *Pipeline) LogFailure(ctx context.Context, err error) {
	switch {
	case errors.Is(err, postgres.ErrOverloaded):
	case errors.Is(err, postgres.ErrUncertain):
		x.log.WarnContext(ctx, "request failed, and may have been recorded", "request", RequestID(ctx), "error", err)
	case errors.Is(err, postgres.ErrUnavailable):
		x.log.WarnContext(ctx, "request failed", "request", RequestID(ctx), "error", err)
	default:
		x.log.ErrorContext(ctx, "request failed", "request", RequestID(ctx), "error", err)
	}
}
