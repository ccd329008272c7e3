package worker

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/queues"
)

const (
	// listAtLeast is the maximum time between two polls of a sweep. The heartbeat of the sweep needs this maximum.
	listAtLeast = 10 * time.Second
	// quietAfter is the time without a row in any queue after which a worker is quiet. A quiet worker looks for rows
	// every quietPause and not every idlePause, so that it costs little. Only the first work after that waits longer.
	quietAfter = 10 * time.Second
	quietPause = 300 * time.Millisecond
)

// queuesDatabase has the method of the database that returns which queues have rows.
type queuesDatabase interface {
	QueuesInUse(ctx context.Context) (queues.InUse, error)
}

// queuesInUse has a channel for each sweep with a queue. A message means that the queue has rows, so that the sweep
// polls for due rows. So an idle worker sends one statement, not one for each sweep. Each channel has a buffer for one
// message.
type queuesInUse struct {
	settlements, forwards, events, callbacks, clocks, expectations, receiverChecks, passes chan struct{}

	lastFound time.Time // when a queue was last found in use
}

func newQueuesInUse() queuesInUse {
	channel := func() chan struct{} { return make(chan struct{}, 1) }
	return queuesInUse{
		settlements: channel(), forwards: channel(), events: channel(), callbacks: channel(), clocks: channel(),
		expectations: channel(), receiverChecks: channel(), passes: channel(),
	}
}

// findQueuesInUse sends a message to each sweep whose queue has rows. After an error of the database, it sends a
// message to every sweep, so that each sweep polls and reports its own failure.
func (w *Worker) findQueuesInUse(ctx context.Context) (more bool, err error) {
	in := queues.InUse{
		Settlements: true, Forwards: true, Events: true, Callbacks: true, Clocks: true, Expectations: true, ReceiverChecks: true,
		Passes: true,
	}
	err = within(ctx, leaseTimeout, func(ctx context.Context) error {
		found, err := w.database.QueuesInUse(ctx)
		if err == nil {
			in = found
		}
		return err
	})
	for _, queue := range []struct {
		inUse bool
		tell  chan<- struct{}
	}{
		{in.Settlements, w.queues.settlements}, {in.Forwards, w.queues.forwards}, {in.Events, w.queues.events},
		{in.Callbacks, w.queues.callbacks}, {in.Clocks, w.queues.clocks}, {in.Expectations, w.queues.expectations},
		{in.ReceiverChecks, w.queues.receiverChecks}, {in.Passes, w.queues.passes},
	} {
		if queue.inUse {
			select {
			case queue.tell <- struct{}{}:
			default:
			}
		}
	}
	// Passes of retained sandboxes stay due. Expectations stay open for hours, and have a pace of their own.
	in.Passes, in.Expectations = false, false
	if in != (queues.InUse{}) {
		w.queues.lastFound = w.now()
	}
	if w.now().Sub(w.queues.lastFound) >= quietAfter {
		sleep(ctx, quietPause-idlePause) // the caller sleeps for the rest
	}
	return false, err
}
