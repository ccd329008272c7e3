package ledger

import (
	"context"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Additions are recorded with a transaction, in its database transaction. They exist in a sandbox with faults or a
// seed, and for a request of an operator's own API.
type Additions struct {
	Faults       []string // names of the faults that applied to the request, and to earlier ones with its reference
	ProviderTxID string   // the operator's transaction id, drawn from the seed; empty: derived from the id
	Native       *NativeRequest
}

// none reports whether there is nothing to add.
func (a Additions) none() bool {
	return len(a.Faults) == 0 && a.ProviderTxID == "" && a.Native == nil
}

// complete copies the additions into a transaction that was recorded.
func (a Additions) complete(t *payments.Transaction) {
	t.DrawnProviderTxID = a.ProviderTxID
	if len(a.Faults) > 0 {
		t.Faults = a.Faults
	}
}

// recorder returns the queries that record the transaction with this id. They send the statements that write the
// additions in the same round trip.
func recorder(ctx context.Context, scope postgres.Scope, clocked bool, a Additions, tenant int64, id payments.ID) (*sqlc.Queries, error) {
	scope = scope.Recording(clocked)
	if a.none() {
		return sqlc.New(scope), nil
	}
	following, err := a.following(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	return sqlc.New(scope.Then(following)), nil
}

// following returns the statements that write the additions of a transaction. If it was not recorded, they write
// nothing.
func (a Additions) following(ctx context.Context, tenant int64, id payments.ID) (*postgres.Following, error) {
	var f postgres.Following
	q := sqlc.New(&f)
	if a.ProviderTxID != "" {
		if err := q.SetProviderTxID(ctx, &a.ProviderTxID, tenant, postgres.UUID(id)); err != nil {
			return nil, err
		}
	}
	if len(a.Faults) > 0 {
		if err := q.SetTransactionFaults(ctx, a.Faults, tenant, postgres.UUID(id)); err != nil {
			return nil, err
		}
	}
	if a.Native != nil {
		if err := a.Native.write(ctx, q, tenant, id); err != nil {
			return nil, err
		}
	}
	return &f, nil
}
