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
}

func (w *Worker) purge(ctx context.Context) (more bool, err error) {
	if err := w.logSandboxErrors(ctx, "purge", w.database.PurgeRetired(ctx)); err != nil {
		return false, err
	}
	sleep(ctx, purgePause)
	return true, nil
}
