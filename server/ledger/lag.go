package ledger

import (
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// settlement is what a batch did with a transaction, and how long after it was due.
type settlement struct {
	status payments.Status
	late   time.Duration // by the database's clock
}

// lags tells how late a batch settles what it settles, where somebody wants to know.
func (s *Settlement) lags(due []sqlc.ClaimDueTransactionsRow, o *outcomes) []settlement {
	if s.settled == nil || len(o.settled.Ids) == 0 {
		return nil
	}
	late := make(map[rowKey]time.Duration, len(due))
	for _, t := range due {
		late[rowKey{t.Tenant, t.ID.Bytes}] = time.Duration(t.LateMs * float64(time.Millisecond))
	}
	told := make([]settlement, len(o.settled.Ids))
	for i, id := range o.settled.Ids {
		told[i] = settlement{payments.Status(o.settled.Statuses[i]), late[rowKey{o.settled.Tenants[i], id.Bytes}]}
	}
	return told
}

// rowKey names a row within all tenants.
type rowKey struct {
	tenant int64
	id     [16]byte
}
