package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statementTimeout is the default of [Options].StatementTimeout. A database that hangs does not end statements by
// itself. Statements in the scope of a tenant have the deadline of the request that they serve.
const statementTimeout = 30 * time.Second

// withTimeout bounds the time of statements. A statement that takes longer is canceled, and its connection is closed.
type withTimeout struct {
	db    DBTX
	limit time.Duration
}

var _ DBTX = withTimeout{}

// Unscoped returns a [DBTX] for statements outside the tenant scope: those on configuration, and those of sweeps over all
// tenants. Postgres plans each statement each time, as in database transactions: see [IdleLimited].
func (d *DB) Unscoped() DBTX { return withTimeout{customPlans{d.pool}, d.limit} }

// GenericPlans is [DB.Unscoped] for statements that a process sends many times a second. Planning such a statement costs many
// times as much as running it, so Postgres keeps its plan. The plan has to be good for any size of the tables: it reads
// by index.
func (d *DB) GenericPlans() DBTX {
	return withTimeout{Scope{pool: d.pool, enter: EnterByIndex}, d.limit}
}

// EnterByIndex makes Postgres use indexes for the statement after it. It enters the scope of no tenant.
const EnterByIndex = `select $1::bigint::text, null, ` + byIndexAlone + kept

// customPlans sends statements in a mode of pgx in which Postgres plans each statement anew, also those without
// arguments.
type customPlans struct{ *pgxpool.Pool }

func (p customPlans) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return p.Pool.Exec(ctx, sql, p.mode(args)...)
}

func (p customPlans) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return p.Pool.QueryRow(ctx, sql, p.mode(args)...)
}

func (p customPlans) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.Pool.Query(ctx, sql, p.mode(args)...)
}

func (customPlans) mode(args []any) []any {
	return append([]any{pgx.QueryExecModeCacheDescribe}, args...)
}

func (t withTimeout) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	return t.db.Exec(ctx, sql, args...)
}

func (t withTimeout) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	return timelyRow{t.db.QueryRow(ctx, sql, args...), cancel}
}

func (t withTimeout) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	rows, err := t.db.Query(ctx, sql, args...)
	if err != nil {
		cancel()
		return nil, err
	}
	return timelyRows{rows, cancel}, nil
}

type timelyRow struct {
	pgx.Row
	cancel context.CancelFunc
}

func (r timelyRow) Scan(dest ...any) error {
	defer r.cancel()
	return r.Row.Scan(dest...)
}

type timelyRows struct {
	pgx.Rows
	cancel context.CancelFunc
}

func (r timelyRows) Close() {
	r.Rows.Close()
	r.cancel()
}
