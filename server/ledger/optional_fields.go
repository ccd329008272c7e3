package ledger

import (
	"context"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// OptionalFields are recorded with a transaction, in its database transaction. They are set only in a sandbox with faults
// or a seed, and for a request of an operator's own API.
type OptionalFields struct {
	Faults       []string // names of the faults that applied to the request, and to earlier ones with its reference
	ProviderTxID string   // the operator's transaction id, drawn from the seed; empty: derived from the id
	Native       *NativeRequest
}

// none reports whether no field is set.
func (o OptionalFields) none() bool {
	return len(o.Faults) == 0 && o.ProviderTxID == "" && o.Native == nil
}

// The method complete sets the optional fields of a recorded transaction.
func (o OptionalFields) complete(t *payments.Transaction) {
	t.DrawnProviderTxID = o.ProviderTxID
	if len(o.Faults) > 0 {
		t.Faults = o.Faults
	}
}

// recorder returns the queries that record the transaction with this id. They send the statements that write the
// optional fields in the same round trip.
func recorder(
	ctx context.Context, scope postgres.Scope, clocked bool, o OptionalFields, tenant int64, id payments.ID,
) (*sqlc.Queries, error) {
	scope = scope.Recording(clocked)
	if o.none() {
		return sqlc.New(scope), nil
	}
	following, err := o.following(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	return sqlc.New(scope.Then(following)), nil
}

// following returns the statements that write the optional fields. For an unrecorded transaction, they write nothing.
func (o OptionalFields) following(ctx context.Context, tenant int64, id payments.ID) (*postgres.Following, error) {
	var f postgres.Following
	q := sqlc.New(&f)
	if o.ProviderTxID != "" {
		if err := q.SetProviderTxID(ctx, &o.ProviderTxID, tenant, postgres.UUID(id)); err != nil {
			return nil, err
		}
	}
	if len(o.Faults) > 0 {
		if err := q.SetTransactionFaults(ctx, o.Faults, tenant, postgres.UUID(id)); err != nil {
			return nil, err
		}
	}
	if o.Native != nil {
		if err := o.Native.writeRequest(ctx, q, tenant, id); err != nil {
			return nil, err
		}
	}
	return &f, nil
}
