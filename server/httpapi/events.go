package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func (s *Server) getEvent(_ http.ResponseWriter, r *http.Request) (answer, error) {
	id, err := webhooks.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return answer{}, wire.NoSuchEvent()
	}
	sandbox := sessionOf(r).sandbox
	event, err := s.ledger.GetEvent(r.Context(), sandbox.Tenant, sandbox.OrganizationID, id, eventBody)
	if errors.Is(err, ledger.ErrNotFound) {
		return answer{}, wire.NoSuchEvent()
	}
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: wire.EventDetailOf(event)}, nil
}

// eventBody builds the body of an event as the worker does.
func eventBody(organizationID string, t *payments.Transaction) ([]byte, error) {
	return webhooks.Body(organizationID, t, operators.Raw(t))
}

func (s *Server) resendEvent(_ http.ResponseWriter, r *http.Request) (answer, error) {
	id, err := webhooks.ParseEventID(chi.URLParam(r, "id"))
	if err != nil {
		return answer{}, wire.NoSuchEvent()
	}
	event, err := s.ledger.ResendEvent(r.Context(), sessionOf(r).sandbox.Tenant, id)
	if err != nil {
		return answer{}, wire.ResendRefusal(err)
	}
	return answer{status: http.StatusAccepted, body: wire.EventSummaryOf(&event)}, nil
}
