package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Clients poll pending payments. Look-ups that arrive at the same time are combined: those of one sandbox into one
// statement, and the statements of several sandboxes into one round trip, a batched read. Each statement runs in the
// scope of its own tenant. A round trip has at most one statement of a sandbox, so a sandbox with many look-ups delays
// the others by at most one statement.

// lookup is the id of a transaction to look up and, once found, the transaction.
type lookup struct {
	version int64 // the version of the caller's configuration
	id      pgtype.UUID
	found   *payments.Transaction
}

// lookups are the look-ups of one sandbox that are combined, and their results.
type lookups struct {
	tenant, version int64
	ids             []pgtype.UUID
	found           []sqlc.Transaction
}

// lookUpStatement returns no row to a caller with an outdated configuration. The lateral join with a limit forces an
// index look-up for each id; a condition on all ids may scan the whole sandbox if statistics are missing. The subselect
// hides the number of ids from the planner, which would otherwise make a new plan each time.
const lookUpStatement = "select " + transactionColumns + ` from unnest((select $2::uuid[])) asked (of_id)
	cross join lateral (select * from transactions where tenant = $1 and id = asked.of_id limit 1) t
	where exists (select from organizations where tenant = $1 and version = $3)`

// GetTransaction returns a transaction, or [ErrNotFound] if the tenant has none with this id.
func (l *Ledger) GetTransaction(ctx context.Context, tenant int64, id payments.ID) (*payments.Transaction, error) {
	row, err := l.tenant(tenant).GetTransaction(ctx, tenant, postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading the transaction")
	}
	t := transactionOf(&row)
	return t, addSent(ctx, l.tenant(tenant), tenant, t)
}

// GetTransactionBatched is [Ledger.GetTransaction] as a batched read. If the sandbox's configuration is outdated, which
// is rare, it costs a second round trip.
func (l *Ledger) GetTransactionBatched(ctx context.Context, sandbox *sandboxes.Sandbox, id payments.ID) (*payments.Transaction, error) {
	asked := &lookup{version: sandbox.ConfigVersion, id: postgres.UUID(id)}
	err := l.sandboxLookups.Do(ctx, postgres.QueueKey{Tenant: sandbox.Tenant}, asked)
	if errors.Is(err, pgx.ErrNoRows) {
		return l.GetTransaction(ctx, sandbox.Tenant, id)
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading the transaction")
	}
	return asked.found, addSent(ctx, l.tenant(sandbox.Tenant), sandbox.Tenant, asked.found)
}

func (l *Ledger) lookUp(ctx context.Context, at postgres.QueueKey, asked *lookup, _ bool) error {
	found, err := l.lookUpAll(ctx, at, []*lookup{asked})
	if err == nil && !found[0] {
		err = pgx.ErrNoRows
	}
	return err
}

// lookUpAll looks up several transactions of a sandbox, for callers with the same version of the configuration. It
// reports which of them it found.
func (l *Ledger) lookUpAll(ctx context.Context, at postgres.QueueKey, all []*lookup) ([]bool, error) {
	together := &lookups{tenant: at.Tenant, version: all[0].version}
	for _, asked := range all {
		together.ids = append(together.ids, asked.id)
	}
	if err := l.sharedLookups.Do(ctx, postgres.QueueKey{}, together); err != nil {
		return nil, err
	}
	byID := make(map[pgtype.UUID]*sqlc.Transaction, len(together.found))
	for i := range together.found {
		byID[together.found[i].ID] = &together.found[i]
	}
	found := make([]bool, len(all))
	for i, asked := range all {
		if row := byID[asked.id]; row != nil && asked.version == together.version {
			asked.found, found[i] = transactionOf(row), true // a copy for each caller, even of the same id
		}
	}
	return found, nil
}

// readBatch makes the round trip for one sandbox.
func (l *Ledger) readBatch(ctx context.Context, _ postgres.QueueKey, asked *lookups, admitted bool) error {
	if !admitted {
		if err := l.db.Admission().Acquire(ctx, asked.tenant); err != nil {
			return err
		}
		defer l.db.Admission().Release(asked.tenant)
	}
	_, err := l.readBatches(ctx, postgres.QueueKey{}, []*lookups{asked})
	return err
}

// readBatches makes one round trip for several sandboxes.
func (l *Ledger) readBatches(ctx context.Context, _ postgres.QueueKey, all []*lookups) ([]bool, error) {
	var batch postgres.ScopeBatch
	for _, asked := range all {
		batch.Queue(asked.tenant, lookUpStatement, asked.tenant, asked.ids, asked.version)
	}
	results := l.db.Send(ctx, &batch)
	for _, asked := range all {
		if err := asked.read(results); err != nil {
			_ = results.Close()
			return nil, err
		}
	}
	return slices.Repeat([]bool{true}, len(all)), results.Close()
}

// read reads the transactions that the statement found.
func (l *lookups) read(results postgres.ScopeResults) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	l.found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[sqlc.Transaction])
	return err
}
