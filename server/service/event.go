package service

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Event is an event or a callback with its attempts.
type Event struct {
	*ledger.EventDetail
	Callback  *ledger.CallbackDetail // nil: it is an event
	Signature *Signature             // of the last attempt that was signed; nil: there is none
}

// Signature explains how an attempt was signed.
type Signature struct {
	Attempt int // its number
	webhooks.Explanation

	signedAt time.Time
	fault    *faults.Fault // nil: none applied, or the sandbox does not declare it any more
}

// ReadEvent returns an event or a callback, or [ledger.ErrNotFound].
func (s *Service) ReadEvent(ctx context.Context, who *Caller, id payments.EventID) (*Event, error) {
	sandbox := who.Sandbox
	if id.Callback {
		callback, err := s.ledger.GetCallback(ctx, sandbox.Tenant, id.ID, func(c *payments.Callback) []byte {
			if t := c.Transaction; t != nil {
				c.Vague = sandbox.Environments[sandboxes.Market{Operator: t.Operator, Country: t.Country}].Vague
			}
			return operators.CallbackBody(c)
		})
		if err != nil {
			return nil, err
		}
		return &Event{EventDetail: &callback.EventDetail, Callback: callback}, nil
	}
	detail, err := s.ledger.GetEvent(ctx, sandbox.Tenant, sandbox.OrganizationID, id.ID, eventBody)
	if err != nil {
		return nil, err
	}
	signed := signedAttempts(detail, who)
	event := &Event{EventDetail: detail}
	if len(signed) > 0 {
		event.Signature = &signed[len(signed)-1]
	}
	return event, nil
}

// eventBody builds the body of an event as the worker does.
func eventBody(organizationID string, t *payments.Transaction) ([]byte, error) {
	return webhooks.Body(organizationID, t, operators.Raw(t))
}

// signedAttempts explains the signatures of all signed attempts of an event, oldest first. What a fault changed follows
// from the fault as the sandbox declares it now.
func signedAttempts(e *ledger.EventDetail, who *Caller) (all []Signature) {
	for i := range e.History {
		a := &e.History[i]
		if a.Signed == nil {
			continue
		}
		d := webhooks.Delivery{ID: e.ID, Type: e.Type, Body: e.Body}
		fault := faultOf(a.Faults, who.Sandbox.Faults)
		if fault != nil {
			d.Fault = fault.Webhook
		}
		all = append(all, Signature{a.Number, webhooks.Explain(d, webhooks.Signed(*a.Signed)), a.Signed.At, fault})
	}
	return all
}
