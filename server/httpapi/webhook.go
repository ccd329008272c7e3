package httpapi

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) getWebhook(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	webhook, err := a.service.ReadWebhook(r.Context(), who)
	if err != nil {
		return exchange.Answer{}, err
	}
	return answered(http.StatusOK, wire.WebhookOf(webhook, who.Sandbox.Faults)), nil
}
