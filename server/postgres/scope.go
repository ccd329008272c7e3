package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// EnterTenant enters the scope of a tenant until the database transaction ends. It sets cauri.tenant, which row-level
// security compares with the tenant of each row. It sets the role of the scope, cauri_tenant, to which row-level security applies. It
// sets an empty tenant if no organization has the number any more.
const EnterTenant = `select
  set_config('cauri.tenant', tenant_in_use($1), true),
  ` + inScope + planned

// EnterVersionChecked is EnterTenant for statements that check the version themselves: see [DB.VersionChecked]. Every
// payment needs such statements, and planning one would cost as much as running it. So Postgres keeps their plans. The
// statements are written so that a plan for empty tables is also good for full ones: see decision 0048.
const EnterVersionChecked = enterUnchecked + kept

const enterUnchecked = `select set_config('cauri.tenant', $1::bigint::text, true), ` + inScope

// enterUnfollowed is EnterVersionChecked for statements that write in a sandbox that no stream follows: see
// [Scope.Unfollowed]. It gives the database transaction an id before the statement takes its snapshot. A reader of
// changes waits for database transactions with such an id: see the SQL function note_change.
const enterUnfollowed = EnterVersionChecked + `,
  set_config('cauri.followed', case when pg_current_xact_id() is not null then 'no' end, true)`

// enterAnother is EnterVersionChecked for a database transaction that is already in the scope of another tenant.
const enterAnother = `select set_config('cauri.tenant', $1::bigint::text, true)`

// inScope has the other settings of the scope. Sequential scans are off: every statement of a tenant has an index that
// serves it, but Postgres would scan a table as long as it has only a few pages. Bitmap scans are off: Postgres would
// sort their rows, which an index returns in order. See compileNothing for jit.
const inScope = `set_config('role', tenant_role(), true), ` + byIndexAlone

const byIndexAlone = `set_config('enable_seqscan', 'off', true) || set_config('enable_bitmapscan', 'off', true) || set_config('jit', 'off', true)`

// planned is appended to the last column of inScope if statements are planned each time, see planEachTime. kept is
// appended if Postgres keeps their plans, see keepPlans. One of them must be: otherwise Postgres decides it for each
// connection and statement, by costs of the connection's first minute.
const (
	planned = ` || set_config('plan_cache_mode', 'force_custom_plan', true)`
	kept    = ` || set_config('plan_cache_mode', 'force_generic_plan', true)`
)

// Scope runs statements in the scope of a tenant, each in a database transaction of its own. A statement sees and
// changes only the rows of that tenant, whatever its WHERE says. The statement that enters the scope is sent in the
// same pipeline, so the scope costs no round trip. Both run in the implicit transaction of the pipeline. If this
// transaction does not commit, Exec, Scan or the Err of the rows returns an error.
type Scope struct {
	pool       *pgxpool.Pool
	tenant     int64
	enter      string
	at         *position     // the position that the replica must have replayed; nil on the primary
	admission  *Admission    // of each statement; nil: it needs none
	commits    *sharedCommit // nil: its statements share no commit
	unfollowed bool          // no stream follows the sandbox
	recording  recording
	then       []statement
}

var _ DBTX = Scope{}

// Tenant returns the scope of a tenant. Its statements return [ErrConfigChanged] for a tenant that was reset or
// deleted, however old the caller's copy of the configuration is.
func (d *DB) Tenant(tenant int64) Scope {
	return Scope{pool: d.pool, tenant: tenant, enter: EnterTenant, admission: d.admission}
}

// VersionChecked returns the scope of a tenant for statements that check the version of the configuration themselves.
// They write and return nothing if the organization is gone, or has another version than the one on which their outcome
// was decided.
func (d *DB) VersionChecked(tenant int64) Scope {
	return Scope{pool: d.pool, tenant: tenant, enter: EnterVersionChecked, admission: d.admission, commits: d.commits}
}

// Unfollowed returns the scope of version-checked statements. If unfollowed is true, no stream followed the sandbox in
// the version that they check, and they note no changes.
func (s Scope) Unfollowed(unfollowed bool) Scope {
	s.unfollowed = unfollowed
	return s
}

// InTenantTx runs f in one database transaction in the scope of a tenant. It returns the error of f, and the errors of
// [DB.Tenant].
func (d *DB) InTenantTx(ctx context.Context, tenant int64, f func(tx pgx.Tx) error) error {
	if err := d.admission.Acquire(ctx, tenant); err != nil {
		return err
	}
	defer d.admission.Release(tenant)
	return d.InTenantTxAtOnce(ctx, tenant, f)
}

// InTenantTxAtOnce is [DB.InTenantTx] without admission.
func (d *DB) InTenantTxAtOnce(ctx context.Context, tenant int64, f func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, d.pool, IdleLimited, func(tx pgx.Tx) error {
		if err := entered(tx.QueryRow(ctx, EnterTenant, tenant)); err != nil {
			return err
		}
		return f(tx)
	})
}

func (s Scope) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	var batch pgx.Batch
	answered := entered
	stamped := s.recording == inSandboxTime
	switch {
	case s.at != nil:
		batch.Queue(EnterTenantOnReplica, s.at.lsn, s.at.timeline, s.tenant)
		answered = enteredOnReplica
	case s.unfollowed:
		batch.Queue(enterUnfollowed, s.tenant)
		answered = enteredUnfollowed
	default:
		batch.Queue(s.enter, s.tenant)
	}
	if stamped {
		batch.Queue(TakeStamp, s.tenant)
	}
	s.queue(&batch, sql, args)
	if s.admission != nil {
		if err := s.admission.Acquire(ctx, s.tenant); err != nil {
			return nil, err
		}
	}
	results := s.pool.SendBatch(ctx, &batch)
	if s.admission != nil {
		results = &admittedResults{results, s.admission, s.tenant}
	}
	err := answered(results.QueryRow())
	if err == nil && stamped {
		_, err = results.Exec()
	}
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return results, nil
}

// queue adds a statement and those that follow it to a pipeline.
func (s Scope) queue(batch *pgx.Batch, sql string, args []any) {
	batch.Queue(s.recording.text(sql), args...)
	for _, following := range s.then {
		batch.Queue(s.recording.text(following.sql), following.args...)
	}
}

// admittedResults releases the admission of a statement once its results are read.
type admittedResults struct {
	pgx.BatchResults
	admission *Admission // nil once it is released
	tenant    int64
}

func (r *admittedResults) Close() error {
	err := r.BatchResults.Close()
	if r.admission != nil {
		r.admission.Release(r.tenant)
		r.admission = nil
	}
	return err
}

// entered reads the answer to EnterTenant.
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

// enteredUnfollowed reads the answer to enterUnfollowed, which always enters the scope.
func enteredUnfollowed(answer pgx.Row) error { return answer.Scan(nil, nil, nil, nil) }

func (s Scope) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := s.send(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	if closed := results.Close(); err == nil {
		err = closed
	}
	return tag, err
}

func (s Scope) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	// A statement has a database transaction of its own if a stream follows the sandbox, or if the sandbox has a clock.
	if s.commits != nil && s.unfollowed && s.recording != inSandboxTime {
		return s.commits.queryRow(ctx, s, sql, args)
	}
	results, err := s.send(ctx, sql, args)
	return scopedRow{results, err}
}

func (s Scope) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := s.send(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return &scopedRows{Rows: rows, results: results}, nil
}

type scopedRow struct {
	results pgx.BatchResults
	err     error
}

func (r scopedRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.results.QueryRow().Scan(dest...)
	if closed := r.results.Close(); err == nil {
		err = closed // the commit may still have failed
	}
	return err
}

type scopedRows struct {
	pgx.Rows
	results pgx.BatchResults
	closed  bool
	err     error
}

func (r *scopedRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *scopedRows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	r.err = r.results.Close()
}

func (r *scopedRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}
