package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// enterTenant says which tenant row level security is bound to and takes on the role that it binds, until the database
// transaction ends. The tenant is nobody, empty, where no organization stands behind the number any more.
const enterTenant = `select
  set_config('cauri.tenant', coalesce((select tenant::text from organizations where tenant = $1 and retained_at is null), ''), true),
  ` + behindWall

// enterGated is enterTenant for statements that begin with a gate: see [Store.gated].
const enterGated = `select set_config('cauri.tenant', $1::bigint::text, true), ` + behindWall

// enterAnother is enterGated where the database transaction is behind the wall of another tenant already.
const enterAnother = `select set_config('cauri.tenant', $1::bigint::text, true)`

// behindWall is what else holds there. Everything that a tenant reads has an index that leads to it, so that no plan needs to read
// a whole table: Postgres prefers to where all tenants together have a few pages, and those are read for every payment.
const behindWall = `set_config('role', 'cauri_tenant', true), set_config('enable_seqscan', 'off', true)`

// tenant runs queries behind the tenant wall: each in a database transaction of its own that sees and touches only the rows
// of that tenant, whatever its WHERE says. They return [ErrConfigChanged] for a tenant that was reset or deleted: what it left
// behind is nobody's, from one moment on, however old the caller's copy of the configuration is.
func (s *Store) tenant(tenant int64) *sqlc.Queries { return sqlc.New(s.behind(tenant)) }

// behind is the way behind the wall of a tenant, on the primary, in the tenant's turn.
func (s *Store) behind(tenant int64) walled {
	return walled{pool: s.pool, tenant: tenant, enter: enterTenant, turns: s.turns}
}

// gated is tenant for statements that write and return nothing unless the organization is there in the version that their outcome
// was decided on: they find out themselves that it is not. Some are sent by one whose turn it is already.
func (s *Store) gated(tenant int64, hasTurn bool) *sqlc.Queries {
	behind := s.behind(tenant)
	behind.enter = enterGated
	if hasTurn {
		behind.turns = nil
	}
	return sqlc.New(behind)
}

// inTenantTx runs f in one database transaction behind the tenant wall, with the errors of [Store.tenant] beside its own.
func (s *Store) inTenantTx(ctx context.Context, tenant int64, f func(q *sqlc.Queries) error) error {
	if err := s.turns.take(ctx, tenant); err != nil {
		return err
	}
	defer s.turns.give(tenant)
	return pgx.BeginTxFunc(ctx, s.pool, perishable, func(tx pgx.Tx) error {
		if err := entered(tx.QueryRow(ctx, enterTenant, tenant)); err != nil {
			return err
		}
		return f(sqlc.New(tx))
	})
}

// walled pipelines enterTenant, or what takes its place, with each statement, so that the wall costs no round trip. Both run in the implicit
// transaction of the pipeline, and no answer is believed before that has committed.
type walled struct {
	pool   *pgxpool.Pool
	tenant int64
	enter  string
	at     *position // that a replica must have replayed; nil on the primary
	turns  *turns    // of which each statement takes one; nil: it needs none
}

var _ sqlc.DBTX = walled{}

func (w walled) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	var batch pgx.Batch
	answered := entered
	if w.at == nil {
		batch.Queue(w.enter, w.tenant)
	} else {
		batch.Queue(enterTenantOnReplica, w.at.lsn, w.at.timeline, w.tenant)
		answered = enteredOnReplica
	}
	batch.Queue(sql, args...)
	if w.turns != nil {
		if err := w.turns.take(ctx, w.tenant); err != nil {
			return nil, err
		}
	}
	results := w.pool.SendBatch(ctx, &batch)
	if w.turns != nil {
		results = &resultsInTurn{results, w.turns, w.tenant}
	}
	if err := answered(results.QueryRow()); err != nil {
		_ = results.Close()
		return nil, err
	}
	return results, nil
}

// resultsInTurn gives the turn of a statement back once its results are read.
type resultsInTurn struct {
	pgx.BatchResults
	turns  *turns // nil once it is given back
	tenant int64
}

func (r *resultsInTurn) Close() error {
	err := r.BatchResults.Close()
	if r.turns != nil {
		r.turns.give(r.tenant)
		r.turns = nil
	}
	return err
}

// entered reads the answer to enterTenant.
func entered(answer pgx.Row) error {
	var tenant string
	if err := answer.Scan(&tenant, nil, nil); err != nil {
		return err
	}
	if tenant == "" {
		return ErrConfigChanged
	}
	return nil
}

func (w walled) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := w.send(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	if closed := results.Close(); err == nil {
		err = closed
	}
	return tag, err
}

func (w walled) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	results, err := w.send(ctx, sql, args)
	return walledRow{results, err}
}

func (w walled) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := w.send(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return &walledRows{Rows: rows, results: results}, nil
}

type walledRow struct {
	results pgx.BatchResults
	err     error
}

func (r walledRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.results.QueryRow().Scan(dest...)
	if closed := r.results.Close(); err == nil {
		err = closed // the commit may still have failed
	}
	return err
}

type walledRows struct {
	pgx.Rows
	results pgx.BatchResults
	closed  bool
	err     error
}

func (r *walledRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *walledRows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	r.err = r.results.Close()
}

func (r *walledRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}
