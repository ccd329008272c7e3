package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
)

// ReadWebhook returns the endpoint of the sandbox's events, the health of their delivery, and the fingerprints of the
// secrets that sign them.
func (s *Service) ReadWebhook(ctx context.Context, who *Caller) (webhook *ledger.Webhook, err error) {
	err = s.Renewing(ctx, who, func(ctx context.Context) error {
		webhook, err = s.ledger.ReadWebhook(ctx, who.Sandbox.Tenant)
		return err
	})
	return webhook, err
}
