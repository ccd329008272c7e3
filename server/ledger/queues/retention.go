package queues

import (
	"bytes"
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// retentionBatch bounds the events that one statement removes; each may have many attempts.
const retentionBatch = 1000

// clockSlack is the tolerated clock skew. Processes make ids by their own clocks, which may be ahead of the database's
// clock. The database's clock decides which rows are old. A larger skew delays removal by the difference.
const clockSlack = time.Hour

// RemoveAged removes events whose age exceeds the parameter age, with their attempts. It computes ages by the
// database's clock, and returns the number of removed events. Queued events and all transactions stay. RemoveAged works
// through one sandbox after another, in small batches. If ctx ends, the finished batches stay removed. Several callers
// may run at once.
func (s *Upkeep) RemoveAged(ctx context.Context, age time.Duration) (removed int64, err error) {
	now, err := s.core.Unscoped().DatabaseTime(ctx)
	if err != nil {
		return 0, postgres.Classify(err, "reading the database's clock")
	}
	cutoff := now.Add(-age)
	before, err := payments.NewID(cutoff.Add(clockSlack), bytes.NewReader(make([]byte, len(payments.ID{}))))
	if err != nil {
		return 0, err
	}
	tenants, err := s.core.Unscoped().AgedTenants(ctx, postgres.UUID(before), cutoff, retentionBatch)
	if err != nil {
		return 0, postgres.Classify(err, "looking for old events")
	}
	failed := sandboxes.SandboxErrors{}
	for _, aged := range tenants {
		params := sqlc.RemoveAgedEventsParams{
			Tenant: aged.Tenant, Clocked: aged.Clocked, After: postgres.UUID(payments.ID{}), Before: postgres.UUID(before), Cutoff: cutoff,
			Batch: retentionBatch,
		}
		if aged.Clocked {
			params.Before = postgres.UUID(payments.LastID)
		}
		n, err := s.removeAgedEvents(ctx, params)
		removed += n
		if err := failed.Keep(ctx, aged.Tenant, postgres.Classify(err, "removing old events")); err != nil {
			return removed, err
		}
	}
	return removed, failed.Err()
}

// removeAgedEvents removes events in the order of their ids, in batches. In a sandbox with a clock, it stops after a
// batch that has no old event, because most of the following events were recorded later. So an old event behind such a
// batch stays as long as the batch has no old event.
func (s *Upkeep) removeAgedEvents(ctx context.Context, params sqlc.RemoveAgedEventsParams) (removed int64, err error) {
	for {
		done, err := s.core.Unscoped().RemoveAgedEvents(ctx, params)
		if err != nil {
			return removed, err
		}
		removed += done.Removed
		if done.Seen < retentionBatch || params.Clocked && done.Old == 0 {
			return removed, nil
		}
		params.After = done.Last
	}
}

// RemoveOldUsage removes old rows whose age limit is not the retention time: the counts of requests and quotas; tokens,
// orders, callbacks without a transaction, links, sessions and expectations; and the references to which faults have
// applied, or whose requests were counted.
func (s *Upkeep) RemoveOldUsage(ctx context.Context) error {
	q := s.core.Unscoped()
	for _, remove := range []func(context.Context, int32) (int64, error){
		q.RemoveAgedRateUsage, q.RemoveAgedQuotaUsage, q.RemoveAgedNativeTokens, q.RemoveAgedNativeOrders, q.RemoveAgedNotices,
		q.RemoveAgedFaultActs, q.RemoveAgedFaultRequests,
		q.RemoveAgedConsoleLinks, q.RemoveAgedConsoleSessions,
		q.RemoveAgedExpectations,
	} {
		if err := whileFull(func() (int64, error) { return remove(ctx, retentionBatch) }); err != nil {
			return postgres.Classify(err, "removing what is not needed any more")
		}
	}
	return nil
}

// whileFull removes batches until one is not full.
func whileFull(remove func() (int64, error)) error {
	for {
		if n, err := remove(); err != nil || n < retentionBatch {
			return err
		}
	}
}

// changesBatch bounds the noted changes that one statement removes.
const changesBatch = 10_000

// RemoveAgedChanges removes noted changes that are older than age, in batches. If ctx ends, the finished batches stay
// removed. Several callers may run at once.
func (s *Upkeep) RemoveAgedChanges(ctx context.Context, age time.Duration) error {
	ms := postgres.Milliseconds(age)
	tenants, err := s.core.Unscoped().AgedChanges(ctx, ms)
	if err != nil {
		return postgres.Classify(err, "looking for old changes")
	}
	for _, tenant := range tenants {
		for {
			removed, err := s.core.Unscoped().RemoveAgedChanges(ctx, tenant, changesBatch, ms)
			if err != nil {
				return postgres.Classify(err, "removing old changes")
			}
			if removed < changesBatch-1 { // the statement keeps one
				break
			}
		}
	}
	return nil
}
