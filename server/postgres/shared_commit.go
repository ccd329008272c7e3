package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

const (
	// sharedAtMost is the maximum number of statements in a shared commit. With more, the first tenants would hold
	// their locks for longer than a commit of their own takes.
	sharedAtMost = 16
	// If a statement makes a batch fail, its tenant shares no commit for a second. The time doubles with each failure,
	// up to a minute.
	minIsolation = time.Second
	maxIsolation = time.Minute
	// maxIsolated is the maximum number of tenants for which such a time is stored.
	maxIsolated = 10_000
)

// sharedCommit sends writing statements of several tenants in one database transaction, each in the scope of its own
// tenant. They share a round trip and a commit. A statement that finds a connection free is sent alone and at once:
// only statements that have to wait for a connection go together. Decision 0055 has the figures.
//
// A tenant has at most one statement in sharedCommit at a time. Its other statements are sent alone. So a busy tenant
// leaves room for others, and a batch enters each scope once.
//
// A batch locks tenant after tenant in ascending order, as the settlement does, and the rows of a tenant in the order
// of all statements: the SIM, then the float. So there are no deadlocks. The database bounds how long a batch waits for
// a lock. After this time, the batch is rolled back, and each statement is sent alone. So a tenant whose rows are
// locked does not stop the others.
type sharedCommit struct {
	db    *DB
	queue Coalescer[*sharedStatement]

	mu       sync.Mutex
	within   map[int64]bool // tenants with a statement that waits or is under way
	isolated map[int64]isolation
	stats    SharedCommits
}

// SharedCommits counts the commits of statements that may share a commit, and the statements that were sent alone.
type SharedCommits struct {
	Waiting int                     // statements that wait for a connection
	Sizes   [sharedAtMost + 1]int64 // commits by the number of their statements
	Failed  map[string]int64        // failed batches by cause: lock, constraint, unavailable, other
	Alone   map[string]int64        // statements that could not share a commit, by reason
}

// Reasons why a statement cannot share a commit.
const (
	aloneBusy     = "sandbox_busy" // another statement of its tenant waits or is under way
	aloneFailed   = "batch_failed" // its batch failed and recorded nothing
	aloneIsolated = "isolated"     // a statement of its tenant made a batch fail a short time ago
)

// SharedCommits returns the counts so far.
func (d *DB) SharedCommits() SharedCommits {
	d.commits.mu.Lock()
	defer d.commits.mu.Unlock()
	stats := d.commits.stats
	stats.Failed, stats.Alone = maps.Clone(stats.Failed), maps.Clone(stats.Alone)
	stats.Waiting = d.commits.queue.Waiting()
	return stats
}

// isolation is the time during which a tenant shares no commit.
type isolation struct {
	length time.Duration
	until  time.Time
}

// sharedStatement is a statement with the row that it returned. The statements of scope.then follow it.
type sharedStatement struct {
	scope Scope
	sql   string
	args  []any
	row   bufferedRow
}

func newSharedCommit(db *DB) *sharedCommit {
	c := &sharedCommit{db: db, within: map[int64]bool{}, isolated: map[int64]isolation{}}
	c.stats.Failed = map[string]int64{"lock": 0, "constraint": 0, "unavailable": 0, "other": 0}
	c.stats.Alone = map[string]int64{aloneBusy: 0, aloneFailed: 0, aloneIsolated: 0}
	c.queue = Coalescer[*sharedStatement]{
		Shared: true, AtOnce: db.MaxConns(), AtMost: sharedAtMost, Admission: db.admission,
		TenantOf: func(s *sharedStatement) int64 { return s.scope.tenant },
		One:      c.sendAlone, Many: c.sendTogether,
	}
	return c
}

// enterShared enters the scope of the first tenant of a batch, and enterAnotherShared those of the others. A statement
// waits for a lock for 20 ms at most, and for less if the batch is older than 80 ms. So a batch waits for locks for
// about 100 ms in total, however many tenants it has.
const (
	enterShared        = enterUnfollowed + `, ` + shortWaits
	enterAnotherShared = enterAnother + `, ` + shortWaits
	shortWaits         = `set_config('lock_timeout',
  greatest(1, least(20, 100 - extract(milliseconds from clock_timestamp() - now())))::integer::text, true)`
)

// queryRow runs a statement that returns at most one row. It returns the errors of [Scope.QueryRow].
func (c *sharedCommit) queryRow(ctx context.Context, s Scope, sql string, args []any) pgx.Row {
	statement := &sharedStatement{scope: s, sql: sql, args: args}
	if !c.enter(s.tenant) {
		return c.db.queryAlone(ctx, s, sql, args)
	}
	err := c.queue.Do(ctx, QueueKey{}, statement)
	c.leave(s.tenant)
	if err != nil {
		return scopedRow{err: err}
	}
	return statement.row
}

// queryAlone is [Scope.QueryRow] without a shared commit.
func (d *DB) queryAlone(ctx context.Context, s Scope, sql string, args []any) pgx.Row {
	results, err := s.send(ctx, sql, args)
	return scopedRow{results, err}
}

// enter returns false for a tenant that already has a statement in c, and for a tenant that shares no commit at
// present.
func (c *sharedCommit) enter(tenant int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.within[tenant]:
		c.stats.Alone[aloneBusy]++
	case c.db.now().Before(c.isolated[tenant].until):
		c.stats.Alone[aloneIsolated]++
	default:
		c.within[tenant] = true
		return true
	}
	return false
}

func (c *sharedCommit) leave(tenant int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.within, tenant)
}

// failed excludes a tenant from shared commits for a while, because its statement made a batch fail.
func (c *sharedCommit) failed(tenant int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.db.now()
	last, known := c.isolated[tenant]
	if !known && len(c.isolated) >= maxIsolated {
		clear(c.isolated)
	}
	length := minIsolation
	if known && now.Sub(last.until) < last.length {
		length = min(2*last.length, maxIsolation)
	}
	c.isolated[tenant] = isolation{length, now.Add(length)}
}

// sendAlone sends one statement as if there were no shared commit.
func (c *sharedCommit) sendAlone(ctx context.Context, _ QueueKey, s *sharedStatement, admitted bool) error {
	scope := s.scope
	if admitted {
		scope.admission = nil
	} else {
		c.count(func(stats *SharedCommits) { stats.Alone[aloneFailed]++ })
	}
	results, err := scope.send(ctx, s.sql, s.args)
	if err != nil {
		return err
	}
	err = s.row.read(results)
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err == nil && admitted {
		c.count(func(stats *SharedCommits) { stats.Sizes[1]++ })
	}
	return err
}

// sendTogether sends several statements in one database transaction. It executes all or none.
func (c *sharedCommit) sendTogether(ctx context.Context, _ QueueKey, all []*sharedStatement) ([]bool, error) {
	if err := c.commit(ctx, all); err != nil {
		c.count(func(stats *SharedCommits) { stats.Failed[causeOf(err)]++ })
		return nil, err
	}
	c.count(func(stats *SharedCommits) { stats.Sizes[len(all)]++ })
	return slices.Repeat([]bool{true}, len(all)), nil
}

func (c *sharedCommit) count(one func(*SharedCommits)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one(&c.stats)
}

// causeOf returns why a batch failed, for the metrics.
func causeOf(err error) string {
	var answer *pgconn.PgError
	switch {
	case unavailable(err):
		return "unavailable"
	case errors.As(err, &answer) && answer.Code == pgerrcode.LockNotAvailable:
		return "lock"
	case answer != nil && pgerrcode.IsIntegrityConstraintViolation(answer.Code):
		return "constraint"
	}
	return "other"
}

func (c *sharedCommit) commit(ctx context.Context, all []*sharedStatement) error {
	ordered := slices.SortedFunc(slices.Values(all), func(a, b *sharedStatement) int {
		return cmp.Compare(a.scope.tenant, b.scope.tenant)
	})
	var batch pgx.Batch
	for i, s := range ordered {
		enter := enterAnotherShared
		if i == 0 {
			enter = enterShared
		}
		batch.Queue(enter, s.scope.tenant)
		s.scope.queue(&batch, s.sql, s.args)
	}
	results := c.db.pool.SendBatch(ctx, &batch)
	for _, s := range ordered {
		if err := s.read(results); err != nil {
			_ = results.Close()
			if errors.As(err, new(*pgconn.PgError)) && !unavailable(err) {
				c.failed(s.scope.tenant)
			}
			return err
		}
	}
	return results.Close()
}

// read reads the answers to the statement that enters the scope, to the statement, and to those that follow it.
func (s *sharedStatement) read(results pgx.BatchResults) error {
	_, err := results.Exec()
	if err == nil {
		err = s.row.read(results)
	}
	for range s.scope.then {
		if err == nil {
			_, err = results.Exec()
		}
	}
	return err
}

// bufferedRow is a row that is read before the commit of its database transaction and scanned after it.
type bufferedRow struct {
	fields []pgconn.FieldDescription
	values [][]byte
	found  bool
}

// read reads the first row of the next result, if the result has one.
func (r *bufferedRow) read(results pgx.BatchResults) error {
	*r = bufferedRow{}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		r.found, r.fields = true, slices.Clone(rows.FieldDescriptions())
		for _, value := range rows.RawValues() {
			r.values = append(r.values, bytes.Clone(value)) // nil stays nil, which is NULL
		}
	}
	rows.Close()
	return rows.Err()
}

// typeMaps is a pool, since only one goroutine at a time may use a [pgtype.Map].
var typeMaps = sync.Pool{New: func() any { return pgtype.NewMap() }}

// Scan implements [pgx.Row].
func (r bufferedRow) Scan(dest ...any) error {
	if !r.found {
		return pgx.ErrNoRows
	}
	types := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(types)
	return pgx.ScanRow(types, r.fields, r.values, dest...)
}
