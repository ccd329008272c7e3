package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// ScopeBatch has several queries for one round trip. Each query runs in the scope of its own tenant, see
// [EnterVersionChecked].
type ScopeBatch struct {
	Planned bool // Postgres plans the queries each time; set for queries for which a kept plan would be bad

	batch   pgx.Batch
	entered bool
}

// Queue adds a query in the scope of a tenant.
func (b *ScopeBatch) Queue(tenant int64, sql string, args ...any) {
	if b.entered {
		b.batch.Queue(enterAnother, tenant)
	} else {
		enter := EnterVersionChecked
		if b.Planned {
			enter = enterUnchecked + planned
		}
		b.batch.Queue(enter, tenant)
		b.entered = true
	}
	b.batch.Queue(sql, args...)
}

// ScopeResults has the results of a [ScopeBatch], in its order. The caller must close it.
type ScopeResults struct{ results pgx.BatchResults }

// Send sends a batch, without waiting for admission. The caller must close the results.
func (d *DB) Send(ctx context.Context, b *ScopeBatch) ScopeResults {
	return ScopeResults{d.pool.SendBatch(ctx, &b.batch)}
}

// Query reads the result of the next query.
func (r ScopeResults) Query() (pgx.Rows, error) {
	if _, err := r.results.Exec(); err != nil {
		return nil, err
	}
	return r.results.Query()
}

// Close ends the round trip. If it returns an error, the caller must discard what it has read.
func (r ScopeResults) Close() error { return r.results.Close() }
