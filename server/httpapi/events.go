package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func (a *API) getEvent(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	id, err := payments.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return exchange.Answer{}, wire.NoSuchEvent()
	}
	var view wire.EventDetail
	if id.Callback {
		view, err = a.readCallback(r.Context(), who.Sandbox, id.Transaction)
	} else {
		view, err = a.readEvent(r.Context(), who.Sandbox, id.Transaction)
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return exchange.Answer{}, wire.NoSuchEvent()
	}
	if err != nil {
		return exchange.Answer{}, err
	}
	return answered(http.StatusOK, view), nil
}

func (a *API) readEvent(ctx context.Context, sandbox *sandboxes.Sandbox, id payments.ID) (wire.EventDetail, error) {
	event, err := a.ledger.GetEvent(ctx, sandbox.Tenant, sandbox.OrganizationID, id, eventBody)
	if err != nil {
		return wire.EventDetail{}, err
	}
	return wire.EventDetailOf(event, sandbox.Faults), nil
}

func (a *API) readCallback(ctx context.Context, sandbox *sandboxes.Sandbox, id payments.ID) (wire.EventDetail, error) {
	vague := func(t *payments.Transaction) bool {
		return sandbox.Environments[sandboxes.Market{Operator: t.Operator, Country: t.Country}].Vague
	}
	callback, err := a.ledger.GetCallback(ctx, sandbox.Tenant, id, operators.CallbackBody, vague)
	if err != nil {
		return wire.EventDetail{}, err
	}
	return wire.CallbackDetailOf(callback, sandbox.Faults), nil
}

// eventBody builds the body of an event as the worker does.
func eventBody(organizationID string, t *payments.Transaction) ([]byte, error) {
	return webhooks.Body(organizationID, t, operators.Raw(t))
}

func (a *API) resendEvent(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	id, err := payments.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return exchange.Answer{}, wire.NoSuchEvent()
	}
	event, err := a.service.ResendEvent(r.Context(), who, id)
	if err != nil {
		return exchange.Answer{}, wire.ResendRefusal(err)
	}
	return answered(http.StatusAccepted, wire.EventSummaryOf(&event, who.Sandbox.Faults)), nil
}

func (a *API) listEvents(_ http.ResponseWriter, r *http.Request, who *service.Caller) (exchange.Answer, error) {
	sandbox := who.Sandbox
	tenant := sandbox.Tenant
	q := wire.EventQuery{Limit: wire.DefaultLimit}
	if _, wrong := wire.EventParameters.Read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return exchange.Answer{}, wire.InvalidParams(wrong)
	}
	found, err := a.ledger.ListEvents(r.Context(), tenant, q.Filter, q.After, q.Limit+1)
	if err != nil {
		return exchange.Answer{}, err
	}
	page := wire.EventList{Data: []wire.EventSummary{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.EventSummaryOf(&found[i], sandbox.Faults))
	}
	if page.HasMore {
		page.NextCursor = new(wire.AfterEvent(tenant, found[q.Limit-1].EventID()))
	}
	return answered(http.StatusOK, page), nil
}
