package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// ScopeBatch is several queries, each version-checked in the scope of a tenant of its own, in one round trip.
type ScopeBatch struct {
	Planned bool // each time, for queries that are not written for a plan that is kept

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
			enter += planned
		}
		b.batch.Queue(enter, tenant)
		b.entered = true
	}
	b.batch.Queue(sql, args...)
}

// ScopeResults are the results of a [ScopeBatch], in its order. They have to be closed.
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
