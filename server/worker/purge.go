package worker

import (
	"context"
	"time"
)

// purgePause is the time between two runs of the purge. Nobody waits for it.
const purgePause = time.Minute

// purgeDatabase is what the purge needs of the database.
type purgeDatabase interface {
	PurgeRetired(ctx context.Context) error
	RemoveAgedChanges(ctx context.Context, age time.Duration) error
}

// changesKept is how long noted changes are kept, so that streams can resume from them. It bounds the resuming only
// while somebody else follows the sandbox: else the mark of followed sandboxes ends first, see package streams.
const changesKept = 10 * time.Minute

func (w *Worker) purge(ctx context.Context) (more bool, err error) {
	if err := w.logSandboxErrors(ctx, "purge", w.database.PurgeRetired(ctx)); err != nil {
		return false, err
	}
	sleep(ctx, purgePause)
	return true, nil
}

// removeChanges does not wait for the purge, which goes on for as long as somebody resets faster than it removes.
func (w *Worker) removeChanges(ctx context.Context) (more bool, err error) {
	if err := w.database.RemoveAgedChanges(ctx, changesKept); err != nil {
		return false, err
	}
	sleep(ctx, purgePause)
	return true, nil
}
