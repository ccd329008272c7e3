package store

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// settlement is what a batch did with a transaction, and how long after it was due.
type settlement struct {
	status payments.Status
	late   time.Duration
}

// lateness tells how late a batch settles what it settles, by the database's clock. It asks only where somebody wants to know.
func (s *Store) lateness(ctx context.Context, q *db.Queries, due []db.ClaimDueTransactionsRow, o *outcomes) ([]settlement, error) {
	if s.settled == nil || len(o.settled.Ids) == 0 {
		return nil, nil
	}
	now, err := q.DatabaseTime(ctx)
	if err != nil {
		return nil, err
	}
	dueAt := make(map[rowKey]time.Time, len(due))
	for _, t := range due {
		dueAt[rowKey{t.Tenant, t.ID.Bytes}] = *t.DueAt
	}
	told := make([]settlement, len(o.settled.Ids))
	for i, id := range o.settled.Ids {
		told[i] = settlement{payments.Status(o.settled.Statuses[i]), now.Sub(dueAt[rowKey{o.settled.Tenants[i], id.Bytes}])}
	}
	return told, nil
}

// rowKey names a row within all tenants.
type rowKey struct {
	tenant int64
	id     [16]byte
}
