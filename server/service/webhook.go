package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
)

// ReadWebhook returns where the events of the sandbox go, how that goes, and what signs them.
func (s *Service) ReadWebhook(ctx context.Context, who *Caller) (*ledger.Webhook, error) {
	return s.ledger.ReadWebhook(ctx, who.Sandbox.Tenant)
}
