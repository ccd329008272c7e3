package worker

import (
	"context"
	"time"
)

// purgeRest is how long the purge waits after it found what there is: nobody waits for it.
const purgeRest = time.Minute

// purgeDatabase is what the purge needs of the database.
type purgeDatabase interface {
	PurgeRetired(ctx context.Context) error
}

func (w *Worker) purge(ctx context.Context) (more bool, err error) {
	if err := w.othersWent(ctx, "purge", w.database.PurgeRetired(ctx)); err != nil {
		return false, err
	}
	rest(ctx, purgeRest)
	return true, nil
}
