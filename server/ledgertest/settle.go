package ledgertest

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
)

// SettleDue settles the due transactions of all sandboxes once, in one batch, up to perTenant of each.
func SettleDue(ctx context.Context, s *Store, perTenant int) (ledger.BatchCounts, error) {
	due, err := s.TenantsToSettle(ctx)
	if err != nil {
		return ledger.BatchCounts{}, err
	}
	return s.SettleDue(ctx, due, perTenant)
}
