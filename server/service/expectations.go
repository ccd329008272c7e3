package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// Observe returns what the sandbox has of what the lines of an expectation ask for. Transactions up to since, nil for
// none, do not count. It returns [ledger.ErrTooManyRows].
func (s *Service) Observe(
	ctx context.Context, who *Caller, lines []expectations.Line, since *payments.ID,
) (seen ledger.Observed, err error) {
	err = s.Renewing(ctx, who, func(ctx context.Context) error {
		if err := s.ApplyFault(ctx, who); err != nil {
			return err
		}
		seen, err = s.ledger.Observe(ctx, who.Sandbox.Tenant, lines, since)
		return err
	})
	return seen, err
}
