package service

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// CheckReceiver asks the workers to check the receiver of the sandbox. If tx is not nil, the check sends the event of
// that collection, and with allow also a refund of it that did not happen. CheckReceiver returns
// [ledger.ErrNoEndpoint], [receiverchecks.ErrTooManyChecks] or [receiverchecks.ErrNoEndedCollection].
func (s *Service) CheckReceiver(ctx context.Context, who *Caller, tx *payments.ID, allow bool) (check *receiverchecks.Check, err error) {
	id, err := payments.NewID(s.now(), s.random)
	if err != nil {
		return nil, err
	}
	err = s.Renewing(ctx, who, func(ctx context.Context) error {
		tenant := who.Sandbox.Tenant
		webhook, err := s.ledger.ReadWebhook(ctx, tenant)
		if err == nil && webhook.State == webhooks.EndpointNone {
			err = ledger.ErrNoEndpoint
		}
		if err == nil && tx != nil {
			err = s.keepBody(ctx, who, *tx)
		}
		if err == nil {
			err = s.ledger.RequestReceiverCheck(ctx, tenant, id, tx, allow)
		}
		if err == nil {
			check, err = s.ledger.GetReceiverCheck(ctx, tenant, id)
		}
		if errors.Is(err, ledger.ErrNotFound) { // a reset came between
			return postgres.ErrConfigChanged
		}
		return err
	})
	return check, err
}

// keepBody stores the body of a collection's event, which a check sends.
func (s *Service) keepBody(ctx context.Context, who *Caller, id payments.ID) error {
	event, err := s.ledger.GetEvent(ctx, who.Sandbox.Tenant, who.Sandbox.OrganizationID, id, eventBody)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && event.Type != payments.Collection {
		return receiverchecks.ErrNoEndedCollection
	}
	return err
}

// ReadReceiverCheck returns a check of the receiver, or [ledger.ErrNotFound].
func (s *Service) ReadReceiverCheck(ctx context.Context, who *Caller, id payments.ID) (*receiverchecks.Check, error) {
	return s.ledger.GetReceiverCheck(ctx, who.Sandbox.Tenant, id)
}
