package worker

import (
	"context"
	"time"
)

// A pending payment that the payer does not answer expires when it is due. These passes are a safety net: they find payments that should
// have expired and did not, for whatever reason.
const (
	// expiryPeriod is the time from one pass of a worker to the next, plus or minus 5 %.
	expiryPeriod = time.Hour
	// expiryStart is the time over which the first passes of workers are spread that start together.
	expiryStart = time.Minute
	// expiryBatch is the maximum number of payments that one database transaction makes due.
	expiryBatch = 1000
)

// expiryDatabase has the methods of the database that the expiry needs.
type expiryDatabase interface {
	RequeueStuck(ctx context.Context, batch int) (woken int, err error)
}

func (w *Worker) expire(ctx context.Context) {
	sleep(ctx, time.Duration(w.chance()*float64(expiryStart)))
	w.sweep(ctx, "expiry", w.expireForgotten)
}

// expireForgotten makes pending payments due that should have expired and did not; the settlement expires them. It
// always reports more work, because it waits for the next pass itself.
func (w *Worker) expireForgotten(ctx context.Context) (more bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	woken, err := w.database.RequeueStuck(bounded, expiryBatch)
	if err != nil {
		return false, err
	}
	if woken > 0 {
		w.log.WarnContext(ctx, "found payments that should have expired before; they expire now", "transactions", woken)
	}
	if woken < expiryBatch {
		sleep(ctx, time.Duration((0.95+0.1*w.chance())*float64(expiryPeriod)))
	}
	return true, nil
}
