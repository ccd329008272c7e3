package ledgertest

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
)

// SettleDue settles what is due of all sandboxes once, up to perTenant of each, together.
func SettleDue(ctx context.Context, s *Store, perTenant int) (ledger.BatchCounts, error) {
	due, err := s.TenantsToSettle(ctx)
	if err != nil {
		return ledger.BatchCounts{}, err
	}
	return s.SettleDue(ctx, due, perTenant)
}
