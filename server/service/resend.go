package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// ResendEvent queues an event or a callback again. It returns [ledger.ErrNotFound], [ledger.ErrNoEndpoint] or
// [ledger.ErrBeingSent].
func (s *Service) ResendEvent(ctx context.Context, who *Caller, id payments.EventID) (ledger.Event, error) {
	if id.Callback {
		return s.ledger.ResendCallback(ctx, who.Sandbox.Tenant, id.ID)
	}
	return s.ledger.ResendEvent(ctx, who.Sandbox.Tenant, id.ID)
}
