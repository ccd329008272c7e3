package worker

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// writeRetryFor is how long a write is retried while the database is unavailable. It is longer than a lease,
	// because an expired lease stays valid until another worker takes it.
	writeRetryFor = 30 * time.Second
	// writeRetryPause is the time between two tries.
	writeRetryPause = 250 * time.Millisecond
	// refusedTries is the maximum number of tries of a write that the database refuses.
	refusedTries = 3
	// resultBatch is the maximum number of results in one write.
	resultBatch = 512
)

// result is the result of an attempt until it is written.
type result struct {
	ledger.FinishedAttempt
	written chan<- written // buffered
}

// written is the outcome of writing a result.
type written struct {
	leaseHeld bool // the worker still held the lease
	err       error
}

// resultWriter writes the results of attempts in batches. A batch has the results that arrived during the write of the
// batch before.
type resultWriter struct {
	worker *Worker
	queue  chan result
}

// write queues the result of an attempt and waits until it is written or the retries are exhausted.
func (r *resultWriter) write(e *ledger.LeasedEvent, a ledger.AttemptResult) (leaseHeld bool, err error) {
	done := make(chan written, 1)
	r.queue <- result{ledger.FinishedAttempt{Event: e, AttemptResult: a}, done}
	w := <-done
	return w.leaseHeld, w.err
}

// run writes until the queue is closed.
func (r *resultWriter) run(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for first := range r.queue {
		began := r.worker.now()
		r.writeBatch(ctx, r.batch(first))
		sleep(ctx, batchInterval-r.worker.now().Sub(began))
	}
}

// batch returns the result first with the results that wait in the queue.
func (r *resultWriter) batch(first result) []result {
	batch := []result{first}
	for len(batch) < resultBatch {
		select {
		case next, open := <-r.queue:
			if !open {
				return batch
			}
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

func (r *resultWriter) writeBatch(ctx context.Context, batch []result) {
	attempts := make([]ledger.FinishedAttempt, len(batch))
	for i := range batch {
		attempts[i] = batch[i].FinishedAttempt
	}
	var leaseHeld []bool
	err := r.worker.retryWrite(ctx, len(batch) == 1, func(ctx context.Context) (err error) {
		leaseHeld, err = r.worker.database.FinishAttempts(ctx, attempts)
		return err
	})
	if err != nil && len(batch) > 1 && !errors.Is(err, postgres.ErrUnavailable) {
		for i := range batch { // one by one, because one bad result must not lose the others
			r.writeBatch(ctx, batch[i:i+1])
		}
		return
	}
	for i := range batch {
		if err != nil {
			batch[i].written <- written{err: err}
			continue
		}
		batch[i].written <- written{leaseHeld: leaseHeld[i]}
	}
}

// retryWrite calls write, and retries it while the database is unavailable, for at most writeRetryFor. With
// retryRefused, it also retries a write that the database refuses.
func (w *Worker) retryWrite(ctx context.Context, retryRefused bool, write func(context.Context) error) (err error) {
	until := w.now().Add(writeRetryFor)
	for try := 1; ; try++ {
		err = within(ctx, lease, write)
		refused := err != nil && !errors.Is(err, postgres.ErrUnavailable)
		if err == nil || refused && (!retryRefused || try == refusedTries) || w.now().After(until) {
			return err
		}
		sleep(ctx, writeRetryPause)
	}
}

func within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}
