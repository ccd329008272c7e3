package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func (s *Server) getEvent(_ http.ResponseWriter, r *http.Request) (answer, error) {
	id, err := payments.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return answer{}, wire.NoSuchEvent()
	}
	var view wire.EventDetail
	if id.Callback {
		view, err = s.readCallback(r, id.Transaction)
	} else {
		view, err = s.readEvent(r, id.Transaction)
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return answer{}, wire.NoSuchEvent()
	}
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: view}, nil
}

func (s *Server) readEvent(r *http.Request, id payments.ID) (wire.EventDetail, error) {
	sandbox := callerOf(r).Sandbox
	event, err := s.ledger.GetEvent(r.Context(), sandbox.Tenant, sandbox.OrganizationID, id, eventBody)
	if err != nil {
		return wire.EventDetail{}, err
	}
	return wire.EventDetailOf(event, sandbox.Faults), nil
}

func (s *Server) readCallback(r *http.Request, id payments.ID) (wire.EventDetail, error) {
	sandbox := callerOf(r).Sandbox
	vague := func(t *payments.Transaction) bool {
		return sandbox.Environments[sandboxes.Market{Operator: t.Operator, Country: t.Country}].Vague
	}
	callback, err := s.ledger.GetCallback(r.Context(), sandbox.Tenant, id, operators.CallbackBody, vague)
	if err != nil {
		return wire.EventDetail{}, err
	}
	return wire.CallbackDetailOf(callback, sandbox.Faults), nil
}

// eventBody builds the body of an event as the worker does.
func eventBody(organizationID string, t *payments.Transaction) ([]byte, error) {
	return webhooks.Body(organizationID, t, operators.Raw(t))
}

func (s *Server) resendEvent(_ http.ResponseWriter, r *http.Request) (answer, error) {
	id, err := payments.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return answer{}, wire.NoSuchEvent()
	}
	who := callerOf(r)
	event, err := s.service.ResendEvent(r.Context(), who, id)
	if err != nil {
		return answer{}, wire.ResendRefusal(err)
	}
	return answer{status: http.StatusAccepted, body: wire.EventSummaryOf(&event, who.Sandbox.Faults)}, nil
}
