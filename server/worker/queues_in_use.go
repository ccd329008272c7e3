package worker

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
)

// listAtLeast is the longest time between two lists of a sweep. Its heartbeat depends on it.
const listAtLeast = 10 * time.Second

// queuesDatabase has the method of the database that says which queues are in use.
type queuesDatabase interface {
	QueuesInUse(ctx context.Context) (ledger.QueuesInUse, error)
}

// queuesInUse tells sweeps that their queues have a row, so that they list what is due. An idle worker then sends one
// statement in place of one for each sweep. A channel that is full has a message that its sweep has not read.
type queuesInUse struct{ settlements, forwards, events, callbacks, clocks chan struct{} }

func newQueuesInUse() queuesInUse {
	channel := func() chan struct{} { return make(chan struct{}, 1) }
	return queuesInUse{channel(), channel(), channel(), channel(), channel()}
}

// findQueuesInUse tells the sweeps whose queues have a row. If the database cannot say so, it tells all sweeps, and each of them reports
// its own failure.
func (w *Worker) findQueuesInUse(ctx context.Context) (more bool, err error) {
	in := ledger.QueuesInUse{Settlements: true, Forwards: true, Events: true, Callbacks: true, Clocks: true}
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
		{in.Callbacks, w.queues.callbacks}, {in.Clocks, w.queues.clocks},
	} {
		if queue.inUse {
			select {
			case queue.tell <- struct{}{}:
			default:
			}
		}
	}
	return false, err
}
