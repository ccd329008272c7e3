package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/service"
)

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) { s.failure(r, err).write(w) }

// failure is the answer to an error. What is not meant for the caller is logged and answered as internal.
func (s *Server) failure(r *http.Request, err error) answer {
	var repeat service.ErrUnfinished
	errors.As(err, &repeat)
	e := refusalOf(err)
	switch {
	case e != nil:
	case errors.As(err, new(service.ErrFault)): // it drops the connection
		return answer{}
	case errors.Is(err, postgres.ErrOverloaded): // not logged: there are thousands of them, and the metrics count them
		e = wire.Overloaded()
	case errors.Is(err, postgres.ErrConfigChanged): // each time that it was tried
		e = wire.Changing()
	case errors.Is(err, postgres.ErrUncertain):
		s.log.WarnContext(r.Context(), "request failed, and may have been recorded", "request", requestID(r.Context()), "error", err)
		e = wire.Uncertain(repeat.Reference)
	case errors.Is(err, postgres.ErrUnavailable):
		s.log.WarnContext(r.Context(), "request failed", "request", requestID(r.Context()), "error", err)
		e = wire.Unavailable()
	default:
		s.log.ErrorContext(r.Context(), "request failed", "request", requestID(r.Context()), "error", err)
		e = wire.Internal(repeat.Reference)
	}
	a := answer{status: e.Status, header: http.Header{}, body: e}
	a.header.Set("Link", helpWith(r, e.Code))
	if e.Status == http.StatusUnauthorized {
		a.header.Set("WWW-Authenticate", "Bearer")
	}
	if e.RetryAfter != "" {
		a.header.Set("Retry-After", e.RetryAfter)
	}
	return a
}

// helpWith leads to what the API's page says of an error (RFC 8288; "help" is a relation of HTML).
func helpWith(r *http.Request, code string) string {
	page := url.URL{Path: sandboxPrefix(r) + apidoc.PagePath, Fragment: "error-" + code}
	return "<" + page.String() + `>; rel="help"`
}

func logger(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.Default()
	}
	return log
}
