package worker

import (
	"context"
	"time"
)

// purgePause is the time between two runs of the purge, which is not urgent.
const purgePause = time.Minute

// purgeDatabase has the methods of the database that the purge needs.
type purgeDatabase interface {
	PurgeRetired(ctx context.Context) error
	RemoveAgedChanges(ctx context.Context, age time.Duration) error
}

// changesKept is how long noted changes are kept, so that streams can resume from them. The limit applies only while
// another client follows the sandbox; otherwise the mark of followed sandboxes expires first, see package streams.
const changesKept = 10 * time.Minute

func (w *Worker) purge(ctx context.Context) (more bool, err error) {
	if err := w.logSandboxErrors(ctx, "purge", w.database.PurgeRetired(ctx)); err != nil {
		return false, err
	}
	sleep(ctx, purgePause)
	return true, nil
}

// removeChanges removes old changes. It runs apart from the purge, which does not end while sandboxes are reset faster
// than it removes them.
func (w *Worker) removeChanges(ctx context.Context) (more bool, err error) {
	if err := w.database.RemoveAgedChanges(ctx, changesKept); err != nil {
		return false, err
	}
	sleep(ctx, purgePause)
	return true, nil
}
