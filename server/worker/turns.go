package worker

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/postgres"
)

// turns is a sweep that works on one sandbox after the other, in turn, and on several at a time. A slow sandbox delays no
// quick one: see [fairQueue].
type turns struct {
	name   string
	inUse  <-chan struct{} // receives a message while the queue has rows
	every  time.Duration   // the shortest time between two calls of listDue
	idle   time.Duration   // the longest time between them, while the queue has no rows
	atOnce int             // maximum of sandboxes that are worked on at a time, each over one connection
	quick  bool            // whether a sandbox counts as quick at first: no turn takes long

	listDue func(context.Context) ([]queues.DueTenant, error)
	// work does a part of the work of a sandbox. It returns whether more is due there.
	work func(context.Context, queues.DueTenant) (more bool, err error)
}

// takeTurns runs a sweep until ctx ends.
func (w *Worker) takeTurns(ctx context.Context, t turns) {
	queue := newFairQueue(t.atOnce, 1, w.now)
	dispatcher := leasedDispatcher[queues.DueTenant]{
		worker: w, name: t.name, queue: queue, inUse: t.inUse, every: t.every, idle: t.idle,
		listDue: func(ctx context.Context) ([]queues.DueTenant, error) {
			due, err := t.listDue(ctx)
			for i := range due {
				due[i].EndpointWorked = t.quick
			}
			return due, err
		},
		lease: func(_ context.Context, grants []queues.SlotGrant) (all []queues.DueTenant, found map[int64]int, _ error) {
			found = map[int64]int{}
			for i := range grants {
				all, found[grants[i].Tenant] = append(all, grants[i].DueTenant), 1
				grants[i].SweepFailed = false // its turn tells whether it works again
			}
			return all, found, nil
		},
		tenant:  func(sandbox *queues.DueTenant) int64 { return sandbox.Tenant },
		release: func(context.Context, []queues.DueTenant) error { return nil },
		attempt: func(_ context.Context, sandbox *queues.DueTenant) (attemptEnd, func()) {
			return w.takeTurn(ctx, t, queue, *sandbox), func() {} // it ends with the worker
		},
	}
	dispatcher.run(ctx)
}

// takeTurn works on a sandbox. If only this sandbox fails, workers skip it for a while.
func (w *Worker) takeTurn(ctx context.Context, t turns, queue *fairQueue, sandbox queues.DueTenant) attemptEnd {
	began, more := w.now(), false
	err := w.contained(ctx, func() (err error) {
		more, err = t.work(ctx, sandbox)
		return err
	})
	switch {
	case err == nil && sandbox.SweepFailed:
		w.resumeSandboxes(ctx, t.name, []queues.DueTenant{sandbox})
	case err != nil && !errors.Is(err, postgres.ErrUnavailable) && ctx.Err() == nil:
		w.skipSandbox(ctx, t.name, sandbox, err)
	}
	if err != nil || !more {
		queue.done(sandbox.Tenant)
	}
	return attemptEndOf(true, w.now().Sub(began))
}
