package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
)

// ReadWebhook returns the endpoint of the sandbox's events, the health of their delivery, and the fingerprints of the
// secrets that sign them.
func (s *Service) ReadWebhook(ctx context.Context, who *Caller) (*ledger.Webhook, error) {
	return s.ledger.ReadWebhook(ctx, who.Sandbox.Tenant)
}
