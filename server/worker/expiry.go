package worker

import (
	"context"
	"time"
)

// A payment that nobody confirms ends when its own time is over, like any other that is due. These passes are the net under that:
// they find what was forgotten, whatever the reason.
const (
	// expiryPeriod is the time from one pass of a worker to its next, give or take a twentieth.
	expiryPeriod = time.Hour
	// expiryStart is what the first passes of workers that start together are spread over.
	expiryStart = time.Minute
	// expiryBatch is how many payments one database transaction makes due.
	expiryBatch = 1000
)

// expiryDatabase is what the expiry needs of the database.
type expiryDatabase interface {
	WakeForgotten(ctx context.Context, batch int) (woken int, err error)
}

func (w *Worker) expire(ctx context.Context) {
	rest(ctx, time.Duration(w.chance()*float64(expiryStart)))
	w.sweep(ctx, "expiry", w.expireForgotten)
}

// expireForgotten makes due what should have expired and did not; the settlement does the rest. More is always to be done, an hour
// later.
func (w *Worker) expireForgotten(ctx context.Context) (more bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	woken, err := w.database.WakeForgotten(bounded, expiryBatch)
	if err != nil {
		return false, err
	}
	if woken > 0 {
		w.log.WarnContext(ctx, "payments had been forgotten and expire now", "transactions", woken)
	}
	if woken < expiryBatch {
		rest(ctx, time.Duration((0.95+0.1*w.chance())*float64(expiryPeriod)))
	}
	return true, nil
}
