package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/payments"
)

// Observe returns the sandbox's data that the lines of an expectation are checked against. If since is not nil, only
// transactions after it count. Observe returns [observations.ErrTooManyRows].
func (s *Service) Observe(
	ctx context.Context, who *Caller, lines []expectations.Line, since *payments.ID,
) (seen observations.Observed, err error) {
	err = s.Renewing(ctx, who, func(ctx context.Context) error {
		if err := s.ApplyFault(ctx, who); err != nil {
			return err
		}
		seen, err = s.ledger.Observe(ctx, who.Sandbox.Tenant, lines, since)
		return err
	})
	return seen, err
}
