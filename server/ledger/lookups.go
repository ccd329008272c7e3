package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Clients poll pending payments. Look-ups that arrive at the same time are combined into one statement, in two stages:
// first those of one sandbox, then those of several sandboxes. So a sandbox with many look-ups delays the others by at
// most one batch.

// lookup is the id of a transaction to look up and, once found, the transaction.
type lookup struct {
	tenant, version int64 // of the caller's configuration
	id              pgtype.UUID
	found           *payments.Transaction
}

// lookUpStatement looks up transactions of several sandboxes, each in the scope of its own tenant. It enters the scope of
// a tenant before it reads a transaction of the tenant: the lateral join depends on the value that set_config returns.
// Row-level security compares the tenant of each row that it reads with the tenant of the scope at that moment. If
// Postgres read all rows in the scope of the last tenant, the other tenants would find nothing, and each caller would look
// its transaction up alone.
//
// The statement returns no row to a caller with an outdated configuration. The limit in the lateral join forces an index
// look-up for each id. The subselects hide the number of ids from the planner, which would otherwise make a new plan each
// time.
const lookUpStatement = "select asked.n, " + ledgerdb.LookUpColumns + `
from (
  select a.n, a.id as asked_id, a.version, set_config('cauri.tenant', a.tenant::text, true)::bigint as entered
  from unnest((select $1::bigint[]), (select $2::uuid[]), (select $3::bigint[]))
    with ordinality a (tenant, id, version, n)
  offset 0) asked
cross join lateral (
  select * from transactions where tenant = asked.entered and id = asked.asked_id
    and exists (select from organizations where tenant = asked.entered and version = asked.version)
  limit 1) t`

// GetTransaction returns a transaction, or [ErrNotFound] if the tenant has none with this id.
func (l *Ledger) GetTransaction(ctx context.Context, tenant int64, id payments.ID) (*payments.Transaction, error) {
	row, err := l.core.Tenant(tenant).GetTransaction(ctx, tenant, postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading the transaction")
	}
	t := ledgerdb.TransactionOf(&row)
	return t, ledgerdb.AddSent(ctx, l.core.Tenant(tenant), tenant, t)
}

// MovementsOf returns the numbers of the movements that a transaction made of the float and of the SIM. A number is 0 for
// an account that it did not change. MovementsOf returns [ErrNotFound] for an unknown id.
func (l *Ledger) MovementsOf(ctx context.Context, tenant int64, id payments.ID) (float, sim int64, err error) {
	row, err := l.core.Tenant(tenant).GetTransaction(ctx, tenant, postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, ErrNotFound
	}
	return row.MerchantNumber, row.SimNumber, postgres.Classify(err, "reading the transaction")
}

// GetTransactionBatched is [Ledger.GetTransaction] as a batched read. If the sandbox's configuration is outdated, which
// is rare, it costs a second round trip.
func (l *Ledger) GetTransactionBatched(ctx context.Context, sandbox *sandboxes.Sandbox, id payments.ID) (*payments.Transaction, error) {
	asked := &lookup{tenant: sandbox.Tenant, version: sandbox.ConfigVersion, id: postgres.UUID(id)}
	err := l.sandboxLookups.Do(ctx, postgres.QueueKey{Tenant: sandbox.Tenant}, asked)
	if errors.Is(err, pgx.ErrNoRows) {
		return l.GetTransaction(ctx, sandbox.Tenant, id)
	}
	if err != nil {
		return nil, postgres.Classify(err, "reading the transaction")
	}
	return asked.found, ledgerdb.AddSent(ctx, l.core.Tenant(sandbox.Tenant), sandbox.Tenant, asked.found)
}

func (l *Ledger) lookUp(ctx context.Context, at postgres.QueueKey, asked *lookup, _ bool) error {
	found, err := l.lookUpAll(ctx, at, []*lookup{asked})
	if err == nil && !found[0] {
		err = pgx.ErrNoRows
	}
	return err
}

// lookUpAll looks up several transactions of a sandbox. It reports which of them it found.
func (l *Ledger) lookUpAll(ctx context.Context, _ postgres.QueueKey, all []*lookup) ([]bool, error) {
	if err := l.sharedLookups.Do(ctx, postgres.QueueKey{}, all); err != nil {
		return nil, err
	}
	found := make([]bool, len(all))
	for i, asked := range all {
		found[i] = asked.found != nil
	}
	return found, nil
}

// readBatch makes the round trip for one sandbox.
func (l *Ledger) readBatch(ctx context.Context, _ postgres.QueueKey, asked []*lookup, admitted bool) error {
	if !admitted {
		if err := l.core.DB.Admission().Acquire(ctx, asked[0].tenant); err != nil {
			return err
		}
		defer l.core.DB.Admission().Release(asked[0].tenant)
	}
	return l.readAll(ctx, asked)
}

// readBatches makes one round trip for several sandboxes.
func (l *Ledger) readBatches(ctx context.Context, _ postgres.QueueKey, all [][]*lookup) ([]bool, error) {
	return slices.Repeat([]bool{true}, len(all)), l.readAll(ctx, slices.Concat(all...))
}

func (l *Ledger) readAll(ctx context.Context, all []*lookup) error {
	tenants, ids, versions := make([]int64, len(all)), make([]pgtype.UUID, len(all)), make([]int64, len(all))
	for i, asked := range all {
		tenants[i], ids[i], versions[i] = asked.tenant, asked.id, asked.version
	}
	var batch postgres.ScopeBatch
	batch.Queue(tenants[0], lookUpStatement, tenants, ids, versions)
	results := l.core.DB.Send(ctx, &batch)
	err := readLookedUp(results, all)
	if closed := results.Close(); err == nil {
		err = closed
	}
	return err
}

// readLookedUp reads the transactions that the statement found. A connection whose URL chooses another query mode may
// return texts instead of binary values. Then it finds nothing, and each caller looks its transaction up alone.
func readLookedUp(results postgres.ScopeResults, all []*lookup) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if rows.FieldDescriptions()[0].Format == pgx.BinaryFormatCode {
			r := ledgerdb.BinaryRow(rows.RawValues())
			all[r.Integer()-1].found = r.Transaction()
		}
	}
	return rows.Err()
}
