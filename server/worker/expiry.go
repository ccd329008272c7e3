package worker

import (
	"context"
	"time"
)

// A pending payment expires when it is due, if the payer has not answered. These passes are a safety net for payments
// that should have expired and did not.
const (
	// expiryPeriod is the time from one pass of a worker to the next, plus or minus 5 %.
	expiryPeriod = time.Hour
	// expiryStart spreads the first passes of workers that start together over this time.
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

// expireForgotten makes a batch of overdue pending payments due again, so that the settlement expires them. If no more
// are overdue, it waits for the next pass. It returns more=true in both cases, so that sweep does not pause too.
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
