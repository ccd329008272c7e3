package console

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// problem is the content of an error page: what is wrong, and what to do next.
type problem struct {
	status            int
	title, text, code string
}

// Error implements error.
func (p problem) Error() string { return p.title }

// newProblem returns an error whose title and text are shown to the user.
func newProblem(status int, title, text, code string) error {
	return problem{status, title, text, code}
}

// problemOf returns the problem for an error that the user may see. It returns false for any other error.
func problemOf(v *visit, err error) (problem, bool) {
	if own := (problem{}); errors.As(err, &own) {
		return own, true
	}
	if misdirected := (httpfront.ErrMisdirected{}); errors.As(err, &misdirected) {
		return problem{http.StatusMisdirectedRequest, v.Text("The console is not at this address"),
			v.Text("Open it at localhost, or start cauri dev with %s.", httpfront.AllowedHostsFlag+"="+misdirected.Host), httpfront.MisdirectedCode}, true
	}
	switch {
	case errors.Is(err, errNotFound):
		return problem{http.StatusNotFound, v.Text("There is no such page"), v.Text("The address may have a mistake."), "not_found"}, true
	case errors.Is(err, errOnePhone):
		return problem{http.StatusForbidden, v.Text("Your link opens one phone"),
			v.Text("This page is not that phone. Sign in with the API key to see the whole sandbox."), "forbidden"}, true
	case errors.Is(err, errForbidden):
		return problem{http.StatusForbidden, v.Text("Your session may not do this"), v.Text("It was opened by a link that lets you look. Sign in with the API key to change something."), "forbidden"}, true
	case errors.Is(err, errForeignForm):
		return problem{http.StatusForbidden, v.Text("This form is out of date"), v.Text("It belongs to another session, or came from another site. Nothing was changed. Open the page again."), "forbidden"}, true
	case errors.Is(err, errBadForm):
		return problem{http.StatusBadRequest, v.Text("This form cannot be read"), v.Text("Nothing was changed. Open the page again."), "invalid_body"}, true
	case errors.Is(err, sandboxes.ErrNoConsoleSession), errors.Is(err, service.ErrUnauthorized):
		return problem{http.StatusUnauthorized, v.Text("Your session has ended"), v.Text("Sign in again."), "unauthorized"}, true
	case errors.Is(err, service.ErrSuspended):
		return problem{http.StatusServiceUnavailable, v.Text("This sandbox is suspended"), v.Text("Nothing was changed. Set spec.suspend to false to go on."), "suspended"}, true
	case errors.As(err, new(httpfront.ErrTooManyStreams)):
		return problem{http.StatusTooManyRequests, v.Text("Too many pages are live"), v.Text("Close some of the pages of this sandbox."), "too_many_streams"}, true
	case errors.As(err, new(httpfront.ErrRateLimited)):
		return problem{http.StatusTooManyRequests, v.Text("Too many requests"), v.Text("Nothing was changed. Wait a few seconds and open the page again."), "rate_limited"}, true
	}
	return problem{}, false
}

// failed returns the answer for an error. It logs errors that the user cannot correct.
func (c *Console) failed(r *http.Request, err error) httpfront.Answer {
	v := c.visitOf(nil, r.WithContext(context.WithoutCancel(r.Context())))
	p, told := problemOf(v, err)
	if !told {
		c.Pipeline.LogFailure(r.Context(), err)
		p = problem{http.StatusInternalServerError, v.Text("This page could not be made"), v.Text("It is our fault, and it is in the log of the API."), "internal"}
		if unavailable(err) {
			p = problem{http.StatusServiceUnavailable, v.Text("The database does not answer"), v.Text("The sandbox is not lost. The page works again when the database does."), "unavailable"}
		}
	}
	if !label.MatchString(chi.URLParam(r, "name")) {
		v.name = ""
	}
	a := v.html(p.status, problemPage(v, p))
	a.Code = p.code
	if limited := (httpfront.ErrRateLimited{}); errors.As(err, &limited) {
		a.Header.Set("Retry-After", limited.Reset())
	}
	return a
}
