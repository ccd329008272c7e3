package worker

import (
	"context"
	"time"
)

const (
	// settleBatch is how many transactions one database transaction settles: enough to share the commit and the update of a
	// hot float, few enough that their locks are held for milliseconds.
	settleBatch   = 500
	settleTimeout = 30 * time.Second
)

func (w *Worker) settle(ctx context.Context) (more bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout) // what has begun is finished
	defer cancel()
	counts, err := w.store.SettleDue(ctx, settleBatch)
	if err != nil {
		return false, err
	}
	if counts.Claimed > 0 {
		w.log.DebugContext(ctx, "settled", "transactions", counts.Claimed-counts.Parked, "parked", counts.Parked)
	}
	return counts.Claimed == settleBatch, nil
}
