package ledger

import (
	"time"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// settledLag has the status of a settled transaction and its lag: the time from its due time to its settlement. lag is
// nil in a sandbox with a clock of its own.
type settledLag struct {
	status payments.Status
	lag    *time.Duration // by the database's clock
}

// lags returns the lag of each settled transaction; nil if onSettled is nil.
func (s *Settler) lags(claimed []sqlc.ClaimDueTransactionsRow, d *batchDecisions) []settledLag {
	if s.onSettled == nil || len(d.params.Ids) == 0 {
		return nil
	}
	byKey := make(map[ledgerdb.Key]*time.Duration, len(claimed))
	for _, t := range claimed {
		if !t.Clocked {
			byKey[ledgerdb.KeyOf(t.Tenant, t.ID.Bytes)] = new(postgres.FromMilliseconds(t.LateMs))
		}
	}
	lags := make([]settledLag, len(d.params.Ids))
	for i, id := range d.params.Ids {
		lags[i] = settledLag{payments.Status(d.params.Statuses[i]), byKey[ledgerdb.KeyOf(d.params.Tenants[i], id.Bytes)]}
	}
	return lags
}
