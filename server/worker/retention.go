package worker

import (
	"context"
	"time"
)

// retentionRest is how long events may outlive their age. It is long because each round asks for every sandbox.
const retentionRest = time.Hour

// retentionDatabase is what the retention needs of the database.
type retentionDatabase interface {
	RemoveSpent(ctx context.Context) error
	RemoveAged(ctx context.Context, age time.Duration) (removed int64, err error)
}

// retain removes what is older than it is kept. It stops between two batches when the worker does.
func (w *Worker) retain(ctx context.Context) (more bool, err error) {
	if err := w.database.RemoveSpent(ctx); err != nil {
		return false, err
	}
	if w.eventRetention > 0 {
		removed, err := w.database.RemoveAged(ctx, w.eventRetention)
		w.metrics.Removed("events", int(removed))
		if removed > 0 {
			w.log.InfoContext(ctx, "old events removed", "events", removed, "older_than", w.eventRetention)
		}
		if err := w.othersWent(ctx, "retention", err); err != nil {
			return false, err
		}
	}
	rest(ctx, retentionRest)
	return true, nil
}
