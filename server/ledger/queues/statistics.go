package queues

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/postgres"
)

// Queue has the number and the age of due rows of one kind, over all sandboxes that are served.
type Queue struct {
	Due       int           // counted up to 10,000 a sandbox and 100,000 in all
	Sandboxes int           // sandboxes with due rows
	Oldest    time.Duration // how long the oldest row has been due; 0 if no row is due
}

// Imbalances are balances that do not follow from their movements, over all sandboxes.
type Imbalances struct {
	Accounts int
	Units    int64 // sum of the absolute differences of balances and movements, in minor units of any currency
}

// Statistics are the rows that wait for the workers. They leave out rows that no worker may take: those of suspended
// sandboxes, those of sandboxes in which a sweep fails, and events of endpoints that have failed for long.
// ConsoleSessions is the number of sessions of the console, including those whose API key has ended.
type Statistics struct {
	Settlements, Forwards, Events, Callbacks Queue
	FailingEndpoints                         int
	Imbalance                                Imbalances
	ConsoleSessions                          int // counted up to 100,000
}

// QueueStatistics returns what currently waits for the workers.
func (s *Upkeep) QueueStatistics(ctx context.Context) (Statistics, error) {
	found, err := s.readQueueStatistics(ctx)
	return found, postgres.Classify(err, "looking at what is due")
}

func (s *Upkeep) readQueueStatistics(ctx context.Context) (found Statistics, err error) {
	q := s.core.Unscoped()
	settlements, err := q.CountDueSettlements(ctx)
	if err != nil {
		return found, err
	}
	forwards, err := q.CountDueForwards(ctx)
	if err != nil {
		return found, err
	}
	events, err := q.CountDueEvents(ctx)
	if err != nil {
		return found, err
	}
	callbacks, err := q.CountDueCallbacks(ctx)
	if err != nil {
		return found, err
	}
	failing, err := q.CountFailingEndpoints(ctx)
	if err != nil {
		return found, err
	}
	imbalance, err := q.CountImbalances(ctx)
	if err != nil {
		return found, err
	}
	sessions, err := q.CountConsoleSessions(ctx)
	if err != nil {
		return found, err
	}
	return Statistics{
		Settlements:      queueOf(settlements.Due, settlements.Sandboxes, settlements.OldestSeconds),
		Forwards:         queueOf(forwards.Due, forwards.Sandboxes, forwards.OldestSeconds),
		Events:           queueOf(events.Due, events.Sandboxes, events.OldestSeconds),
		Callbacks:        queueOf(callbacks.Due, callbacks.Sandboxes, callbacks.OldestSeconds),
		FailingEndpoints: int(failing),
		Imbalance:        Imbalances{Accounts: int(imbalance.Accounts), Units: imbalance.Imbalance},
		ConsoleSessions:  int(sessions),
	}, nil
}

func queueOf(due, sandboxes int32, oldestSeconds float64) Queue {
	return Queue{Due: int(due), Sandboxes: int(sandboxes), Oldest: time.Duration(oldestSeconds * float64(time.Second))}
}
