package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statementTimeout bounds a statement outside the tenant scope where nothing else is set. A database that hangs, unlike one that is
// gone, ends nothing by itself. Statements in the scope of a tenant have the deadline of the request that they serve.
const statementTimeout = 30 * time.Second

// timely is a pool whose statements end, with their connection, after a time.
type timely struct {
	pool  *pgxpool.Pool
	limit time.Duration
}

var _ DBTX = timely{}

// System runs statements outside the tenant scope: configuration, and what sweeps over all tenants.
func (d *DB) System() DBTX { return timely{d.pool, d.limit} }

func (t timely) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	return t.pool.Exec(ctx, sql, args...)
}

func (t timely) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	return timelyRow{t.pool.QueryRow(ctx, sql, args...), cancel}
}

func (t timely) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	rows, err := t.pool.Query(ctx, sql, args...)
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
