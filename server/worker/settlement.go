package worker

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

const (
	// settleBatch is how many transactions one database transaction settles: enough to share the commit and the update of a
	// hot float, few enough that their locks are held for milliseconds.
	settleBatch   = 500
	settleTimeout = 30 * time.Second
	// settleRest is how long the settlement rests for the time that a batch took, at most settleRestMost: looking for what is due
	// takes time for every sandbox that has something pending, and may not keep the database busy when there are very many.
	settleRest     = 4
	settleRestMost = 500 * time.Millisecond
)

func (w *Worker) settle(ctx context.Context) (more bool, err error) {
	finishing, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout) // what has begun is finished
	defer cancel()
	begun := w.now()
	traced, sweep := w.tracing.Sweep(finishing)
	counts, err := w.store.SettleDue(traced, settleBatch)
	if err != nil {
		return false, err
	}
	if counts.Claimed > 0 {
		w.metrics.Batch(counts.Parked)
		sweep.Found(finishing, "settlement", attribute.Int("cauri.transactions", counts.Claimed), attribute.Int("cauri.parked", counts.Parked))
		w.log.DebugContext(ctx, "settled", "transactions", counts.Claimed-counts.Parked, "parked", counts.Parked)
	}
	if !counts.More {
		rest(ctx, min(settleRest*w.now().Sub(begun), settleRestMost)-idle) // and the sweep rests, too
	}
	return counts.More, nil
}
