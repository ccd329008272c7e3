// Package worker does everything that happens after the answer of the API. It settles and expires pending payments,
// forwards collections to operators and delivers events. Any number of workers may run concurrently. Each works only on
// rows that no other worker has claimed.
package worker

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Database has the methods of the database that the sweeps need. Each sweep declares its part.
type Database interface {
	deliveryDatabase
	callbackDatabase
	forwardingDatabase
	settlementDatabase
	expiryDatabase
	purgeDatabase
	retentionDatabase
	isolationDatabase
	clockDatabase
	verificationDatabase
	queuesDatabase
	expectationDatabase
	receiverCheckDatabase
}

// Worker runs the sweeps.
type Worker struct {
	database    Database
	sender      *webhooks.Sender
	operators   OperatorAccess
	log         *slog.Logger
	chance      func() float64
	now         func() time.Time
	concurrency int
	perSandbox  int
	clocks      int

	// Slots for attempts. The sweeps and the advances of clocks share them.
	delivering, forwarding, callingBack *fairQueue

	queues queuesInUse

	eventRetention time.Duration

	metrics *telemetry.Worker
	tracing *telemetry.Tracing
	hearts  heartbeats
}

// Options are the settings of a [Worker].
type Options struct {
	Database    Database
	Sender      *webhooks.Sender
	Operators   OperatorAccess
	Log         *slog.Logger
	Concurrency int              // maximum of concurrent deliveries; default 512
	PerSandbox  int              // maximum of concurrent deliveries of one sandbox; default 64
	Clocks      int              // maximum of clocks that are advanced concurrently; default 1000
	Chance      func() float64   // random number in [0, 1) for jitter; default math/rand
	Now         func() time.Time // used only to measure durations; default time.Now

	EventRetention time.Duration // age at which events are removed; 0: never

	Metrics *telemetry.Worker  // nil for none
	Tracing *telemetry.Tracing // nil for none
}

// New returns a worker.
func New(o Options) *Worker {
	w := &Worker{
		database: o.Database, sender: o.Sender, operators: o.Operators, log: o.Log, chance: o.Chance, now: o.Now,
		concurrency: o.Concurrency, perSandbox: o.PerSandbox, clocks: cmp.Or(o.Clocks, clocksAtOnce),
	}
	w.queues, w.eventRetention = newQueuesInUse(), o.EventRetention
	w.metrics, w.tracing = o.Metrics, o.Tracing
	if w.concurrency == 0 {
		w.concurrency = 512
	}
	if w.perSandbox == 0 {
		w.perSandbox = 64
	}
	if w.now == nil {
		w.now = time.Now
	}
	if w.chance == nil {
		w.chance = rand.Float64
	}
	w.delivering = newFairQueue(w.concurrency, w.perSandbox, w.now)
	w.forwarding = newFairQueue(forwardConcurrency, forwardPerSandbox, w.now)
	w.callingBack = newFairQueue(callbackConcurrency, callbacksPerSandbox, w.now)
	return w
}

// on returns a copy of the worker that uses another database. The copy runs no sweeps.
func (w *Worker) on(database Database) *Worker {
	return &Worker{
		database: database, sender: w.sender, operators: w.operators, log: w.log, chance: w.chance, now: w.now, concurrency: w.concurrency,
		perSandbox: w.perSandbox, delivering: w.delivering, forwarding: w.forwarding, callingBack: w.callingBack,
		eventRetention: w.eventRetention, metrics: w.metrics, tracing: w.tracing,
	}
}

const (
	// idlePause is how long a sweep waits after it found no due rows.
	idlePause = 50 * time.Millisecond
	// failurePause is how long a sweep waits after a failure.
	failurePause = time.Second
)

// Run sweeps until ctx ends. Then it finishes the attempts that are in flight, and returns.
func (w *Worker) Run(ctx context.Context) {
	var sweeps sync.WaitGroup
	sweeps.Go(func() { w.sweep(ctx, "queues", w.findQueuesInUse) })
	sweeps.Go(func() { w.settleDue(ctx) })
	sweeps.Go(func() { w.expire(ctx) })
	sweeps.Go(func() { w.deliver(ctx) })
	sweeps.Go(func() { w.forward(ctx) })
	sweeps.Go(func() { w.advanceClocks(ctx) })
	sweeps.Go(func() { w.callBack(ctx) })
	sweeps.Go(func() { w.verify(ctx) })
	sweeps.Go(func() { w.judgeExpectations(ctx) })
	sweeps.Go(func() { w.checkReceivers(ctx) })
	sweeps.Go(func() { w.sweep(ctx, "purge", w.purge) })
	sweeps.Go(func() { w.sweep(ctx, "changes", w.removeChanges) })
	sweeps.Go(func() { w.sweep(ctx, "retention", w.retain) })
	sweeps.Wait()
}

// sweep calls step repeatedly until ctx ends. It pauses between calls unless step returns more=true. It logs the first
// of consecutive failures, and the next success.
func (w *Worker) sweep(ctx context.Context, name string, step func(context.Context) (more bool, err error)) {
	failing := false
	defer w.hearts.stop(name)
	for ctx.Err() == nil {
		w.hearts.beat(name, w.now())
		more, err := step(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			w.metrics.SweepFailed(name)
		}
		if (err != nil) != failing {
			failing = err != nil
			if failing {
				w.log.ErrorContext(ctx, "sweep failed, retrying until it succeeds", "sweep", name, "error", err)
			} else {
				w.log.InfoContext(ctx, "sweep works again", "sweep", name)
			}
		}
		switch {
		case err != nil:
			sleep(ctx, failurePause)
		case !more:
			sleep(ctx, idlePause)
		}
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
