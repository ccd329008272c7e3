package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) getWebhook(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	webhook, err := a.service.ReadWebhook(r.Context(), who)
	if err != nil {
		return httpfront.Answer{}, err
	}
	found, err := a.ledger.UnacknowledgedCallbacks(r.Context(), who.Sandbox.Tenant)
	if err != nil {
		return httpfront.Answer{}, err
	}
	callbacks, err := a.service.WhyCallbacksFail(r.Context(), who, found)
	if err != nil {
		return httpfront.Answer{}, err
	}
	pageOf := func(event string) string { return a.eventPage(r, who.Sandbox, event) }
	return answered(http.StatusOK, view.WebhookOf(webhook, callbacks, who.Sandbox.Faults, pageOf)), nil
}

// eventPage returns the address of an event's page in the console; empty: there is no console.
func (a *API) eventPage(r *http.Request, sandbox *sandboxes.Sandbox, event string) string {
	if !a.console {
		return ""
	}
	return a.consoleOrigin(r) + sandbox.ConsolePath("/webhooks/"+event)
}
