package httpapi

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/service"
)

// failed returns the answer to an error.
func (a *API) failed(r *http.Request, err error) httpfront.Answer {
	e := refusalOf(err)
	if e == nil {
		e = failureOf(err)
		if !errors.Is(err, postgres.ErrConfigChanged) { // all tries of the request failed with this error
			a.pipeline.LogFailure(r.Context(), err)
		}
	}
	answer := errorAnswer(e)
	answer.Header.Set("Link", helpWith(r, e.Code))
	if e.Status == http.StatusUnauthorized {
		answer.Header.Set("WWW-Authenticate", "Bearer")
	}
	return answer
}

// errorAnswer returns the answer with the status, the body and the headers of an error.
func errorAnswer(e *wire.Error) httpfront.Answer {
	answer := answered(e.Status, e)
	answer.Header, answer.Code = http.Header{}, e.Code
	if e.RetryAfter != "" {
		answer.Header.Set("Retry-After", e.RetryAfter)
	}
	return answer
}

// Overloaded returns the answer of an overloaded process.
func Overloaded() httpfront.Answer { return errorAnswer(view.Overloaded()) }

// failureOf returns the answer to an error that the request did not cause. The answer to an unknown error is `internal`.
func failureOf(err error) *wire.Error {
	unfinished, _ := errors.AsType[service.ErrUnfinished](err)
	switch {
	case errors.Is(err, postgres.ErrConfigChanged):
		return view.Changing()
	case errors.Is(err, postgres.ErrOverloaded):
		return view.Overloaded()
	case errors.Is(err, postgres.ErrUncertain):
		return view.Uncertain(unfinished.Reference)
	case errors.Is(err, postgres.ErrUnavailable):
		return view.Unavailable()
	}
	return view.Internal(unfinished.Reference)
}

// helpWith returns a Link header (RFC 8288) with the relation "help" of HTML. It links to the text about an error code
// on the API's page.
func helpWith(r *http.Request, code string) string {
	page := url.URL{Path: httpfront.SandboxPrefix(r) + apidoc.PagePath, Fragment: "error-" + code}
	return "<" + page.String() + `>; rel="help"`
}
