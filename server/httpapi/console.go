package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/exchange/static"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// createConsoleLink makes a link that opens the console once.
func (a *API) createConsoleLink(w http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	var body wire.ConsoleLinkRequest
	if r.ContentLength != 0 {
		sent, err := wire.CreateConsoleLink.Decode(w, r)
		if err != nil {
			return exchange.Answer{}, err
		}
		body = *sent
	}
	if !a.console {
		return exchange.Answer{}, wire.ConsoleOff()
	}
	access := sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull, MadeWith: who.Key}
	if body.Role != "" {
		access.Role = sandboxes.ConsoleRole(body.Role)
	}
	var token string
	var ends time.Time
	err := a.service.Renewing(r.Context(), who, func(ctx context.Context) (err error) {
		token, ends, err = a.sandboxes.AddConsoleLink(ctx, who.Sandbox, access)
		return err
	})
	if err != nil {
		return exchange.Answer{}, err
	}
	return answered(http.StatusCreated, wire.ConsoleLink{
		URL: a.consoleURL(r, who.Sandbox, token), Role: string(access.Role), ExpiresAt: payments.FormatTime(ends),
	}), nil
}

// consoleURL returns the address of a link.
func (a *API) consoleURL(r *http.Request, sandbox *sandboxes.Sandbox, token string) string {
	origin, _ := static.AskedAt(r, a.baseURL, "")
	if a.consoles != nil {
		origin = a.consoles.String()
	}
	u := url.URL{Path: "/sandboxes/" + sandbox.Namespace + "/" + sandbox.Name + "/console/link", RawQuery: "token=" + token}
	return origin + u.String()
}

func (a *API) listConsoleSessions(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	found, err := a.sandboxes.ListConsoleSessions(r.Context(), who.Sandbox)
	if err != nil {
		return exchange.Answer{}, err
	}
	list := wire.ConsoleSessionList{Data: []wire.ConsoleSession{}}
	for i := range found {
		list.Data = append(list.Data, wire.ConsoleSessionOf(&found[i]))
	}
	return answered(http.StatusOK, list), nil
}

// deleteConsoleSessions ends all sessions, and the links that nobody used.
func (a *API) deleteConsoleSessions(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	err := a.sandboxes.EndConsoleSessions(r.Context(), who.Sandbox)
	return exchange.Answer{Status: http.StatusNoContent}, err
}

func (a *API) deleteConsoleSession(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	err := a.sandboxes.EndConsoleSession(r.Context(), who.Sandbox, chi.URLParam(r, "session"))
	if errors.Is(err, sandboxes.ErrNoConsoleSession) {
		return exchange.Answer{}, wire.NoSuchConsoleSession()
	}
	return exchange.Answer{Status: http.StatusNoContent}, err
}
