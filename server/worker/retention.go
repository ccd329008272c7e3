package worker

import (
	"context"
	"time"
)

// retentionPause is the time between two runs. So an event may stay for this time after the end of its retention time.
const retentionPause = time.Hour

// retentionDatabase has the methods of the database that retention needs.
type retentionDatabase interface {
	RemoveOldUsage(ctx context.Context) error
	RemoveAged(ctx context.Context, age time.Duration) (removed int64, err error)
}

// retain removes rows whose retention time is over. When the worker stops, retain stops after the current batch.
func (w *Worker) retain(ctx context.Context) (more bool, err error) {
	if err := w.database.RemoveOldUsage(ctx); err != nil {
		return false, err
	}
	if w.eventRetention > 0 {
		removed, err := w.database.RemoveAged(ctx, w.eventRetention)
		w.metrics.Removed("events", int(removed))
		if removed > 0 {
			w.log.InfoContext(ctx, "old events removed", "events", removed, "older_than", w.eventRetention)
		}
		if err := w.logSandboxErrors(ctx, "retention", err); err != nil {
			return false, err
		}
	}
	sleep(ctx, retentionPause)
	return true, nil
}
