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

// changesKept is the age at which noted changes are removed. A stream can resume from any noted change. If no other
// client follows the sandbox, a stream can resume only until the sandbox's mark as followed expires, which is earlier;
// see package streams.
const changesKept = 10 * time.Minute

func (w *Worker) purge(ctx context.Context) (more bool, err error) {
	if err := w.logSandboxErrors(ctx, "purge", w.database.PurgeRetired(ctx)); err != nil {
		return false, err
	}
	sleep(ctx, purgePause)
	return true, nil
}

// removeChanges removes old changes. It is not part of purge, because a run of purge may take very long if sandboxes
// are reset often.
func (w *Worker) removeChanges(ctx context.Context) (more bool, err error) {
	if err := w.database.RemoveAgedChanges(ctx, changesKept); err != nil {
		return false, err
	}
	sleep(ctx, purgePause)
	return true, nil
}
