package worker

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/store"
)

const (
	// keepTrying is how long it is tried to write down what came of something while the database is away: longer than a lease, since
	// one that has ended is still good for as long as nobody has taken another.
	keepTrying = 30 * time.Second
	// finishPause is the time between two tries.
	finishPause = 250 * time.Millisecond
	// finishTries is how often it is tried to write down what the database refuses.
	finishTries = 3
	// finishBatch bounds the attempts that are written down at once.
	finishBatch = 512
)

// finishing is an attempt that waits to be written down.
type finishing struct {
	store.FinishedAttempt
	written chan<- finished // has room
}

type finished struct {
	kept bool // the lease was still the worker's
	err  error
}

// finisher writes attempts down together: those that ended while the ones before them were written.
type finisher struct {
	worker  *Worker
	waiting chan finishing
}

// finish writes an attempt down, and returns when that is done or has failed for good.
func (f *finisher) finish(e *store.LeasedEvent, a store.Attempt) (kept bool, err error) {
	written := make(chan finished, 1)
	f.waiting <- finishing{store.FinishedAttempt{Event: e, Attempt: a}, written}
	done := <-written
	return done.kept, done.err
}

// run writes until waiting is closed.
func (f *finisher) run(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for one := range f.waiting {
		began := f.worker.now()
		f.write(ctx, f.together(one))
		rest(ctx, gather-f.worker.now().Sub(began))
	}
}

// together is an attempt with those that wait beside it.
func (f *finisher) together(one finishing) []finishing {
	batch := []finishing{one}
	for len(batch) < finishBatch {
		select {
		case next, open := <-f.waiting:
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

func (f *finisher) write(ctx context.Context, batch []finishing) {
	attempts := make([]store.FinishedAttempt, len(batch))
	for i := range batch {
		attempts[i] = batch[i].FinishedAttempt
	}
	var kept []bool
	err := f.worker.persist(ctx, len(batch) == 1, func(ctx context.Context) (err error) {
		kept, err = f.worker.store.FinishAttempts(ctx, attempts)
		return err
	})
	if err != nil && len(batch) > 1 && !errors.Is(err, store.ErrUnavailable) {
		for i := range batch { // what is wrong with one must not be the others' loss
			f.write(ctx, batch[i:i+1])
		}
		return
	}
	for i := range batch {
		if err != nil {
			batch[i].written <- finished{err: err}
			continue
		}
		batch[i].written <- finished{kept: kept[i]}
	}
}

// persist writes, again and again while the database is away. What it refuses is tried again only if insist is set.
func (w *Worker) persist(ctx context.Context, insist bool, write func(context.Context) error) (err error) {
	until := w.now().Add(keepTrying)
	for try := 1; ; try++ {
		err = within(ctx, lease, write)
		refused := err != nil && !errors.Is(err, store.ErrUnavailable)
		if err == nil || refused && (!insist || try == finishTries) || w.now().After(until) {
			return err
		}
		rest(ctx, finishPause)
	}
}

func within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}
