package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/httpfront/static"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

// createConsoleLink makes a link that opens the console once.
func (a *API) createConsoleLink(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	var body wire.ConsoleLinkRequest
	if r.ContentLength != 0 {
		sent, err := decode.CreateConsoleLink.Decode(w, r, who.Sandbox)
		if err != nil {
			return httpfront.Answer{}, err
		}
		body = *sent
	}
	if !a.console {
		return httpfront.Answer{}, view.ConsoleOff()
	}
	access, err := decode.ConsoleAccess(&body)
	if err != nil {
		return httpfront.Answer{}, err
	}
	if access.MSISDN != "" {
		if _, err := a.ledger.FindTestClient(r.Context(), who.Sandbox.Tenant, access.MSISDN); err != nil {
			return httpfront.Answer{}, orMissing(err, view.NoPhone(who.Sandbox, access.MSISDN))
		}
	}
	access.MadeWith = who.Key
	var token string
	var ends time.Time
	err = a.service.Renewing(r.Context(), who, func(ctx context.Context) (err error) {
		token, ends, err = a.sandboxes.AddConsoleLink(ctx, who.Sandbox, access)
		return err
	})
	if err != nil {
		return httpfront.Answer{}, err
	}
	return answered(http.StatusCreated, wire.ConsoleLink{
		URL: a.consoleURL(r, who.Sandbox, token), Role: string(access.Role), MSISDN: view.NumberOf(access), ExpiresAt: payments.FormatTime(ends),
	}), nil
}

// consoleURL returns the address of a link.
func (a *API) consoleURL(r *http.Request, sandbox *sandboxes.Sandbox, token string) string {
	return a.consoleOrigin(r) + sandbox.ConsoleLinkPath(token)
}

// consoleOrigin returns the base URL of the consoles.
func (a *API) consoleOrigin(r *http.Request) string {
	if a.consoles != nil {
		return a.consoles.String()
	}
	origin, _ := static.AskedAt(r, a.baseURL, "")
	return origin
}

func (a *API) listConsoleSessions(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	if _, wrong := decode.ConsoleSessionParameters.Read(w.Header(), r.URL.RawQuery, who.Sandbox.Tenant, nil); len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	found, err := a.sandboxes.ListConsoleSessions(r.Context(), who.Sandbox)
	if err != nil {
		return httpfront.Answer{}, err
	}
	list := wire.ConsoleSessionList{Data: []wire.ConsoleSession{}}
	for i := range found {
		list.Data = append(list.Data, view.ConsoleSessionOf(&found[i]))
	}
	return answered(http.StatusOK, list), nil
}

// deleteConsoleSessions ends all sessions, and the links that nobody used.
func (a *API) deleteConsoleSessions(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	err := a.sandboxes.EndConsoleSessions(r.Context(), who.Sandbox)
	return httpfront.Answer{Status: http.StatusNoContent}, err
}

func (a *API) deleteConsoleSession(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	err := a.sandboxes.EndConsoleSession(r.Context(), who.Sandbox, chi.URLParam(r, "session"))
	return httpfront.Answer{Status: http.StatusNoContent}, err
}
