package worker

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/server/webhooks"
)

const (
	// lease is how long an event belongs to the worker that took it: longer than an attempt with its writing down, so that
	// nobody else sends it meanwhile, and short, so that a worker that died is not waited for long.
	lease = webhooks.AttemptTimeout + 5*time.Second
	// finishTries bounds how often an attempt is written down anew when the database is away.
	finishTries = 3
)

// deliver sends events, up to w.concurrency at one time.
func (w *Worker) deliver(ctx context.Context) {
	outside(ctx, w, "delivery", w.concurrency, w.takeEvents, w.attempt)
}

func (w *Worker) takeEvents(ctx context.Context, slots int) ([]store.LeasedEvent, error) {
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	return w.store.LeaseDueEvents(ctx, slots, lease, buildBody)
}

func buildBody(organizationID string, t *payments.Transaction) ([]byte, error) {
	return webhooks.Body(organizationID, t, operators.Raw(t))
}

// attempt sends one event and writes down what it came to. One wide log line tells all of it.
func (w *Worker) attempt(ctx context.Context, e *store.LeasedEvent) {
	log := w.log.With("event", webhooks.EventID(e.ID), "transaction", e.ID.String(), "organization", e.OrganizationID,
		"type", e.Transaction.Type.Event(), "attempt", e.Attempts+1)
	if e.Problem != nil {
		// Not the receiver's fault: the attempt does not count, and the event is due again when its lease ends.
		log.ErrorContext(ctx, "event cannot be sent", "error", e.Problem)
		return
	}
	result := w.sender.Send(ctx, webhooks.Delivery{
		URL: e.URL, Secret: e.SigningSecret, ID: e.ID, Type: e.Transaction.Type, Body: e.Body,
	})
	a := w.judge(e, result)
	log = log.With("state", a.State, "status", result.Status, "duration", result.Duration, "retry_after", a.RetryAfter)
	if result.Err != nil {
		log = log.With("reason", result.Err)
	}
	switch kept, err := w.finish(ctx, e, a); {
	case err != nil:
		log.ErrorContext(ctx, "delivery attempt could not be written down; the event will be sent again", "error", err)
	case !kept:
		log.WarnContext(ctx, "delivery attempt took longer than its lease; another worker has the event")
	default:
		log.InfoContext(ctx, "delivery attempt")
	}
}

// judge decides what becomes of an event after an attempt.
func (w *Worker) judge(e *store.LeasedEvent, r webhooks.Result) store.Attempt {
	a := store.Attempt{
		StartedAt: r.StartedAt, Duration: r.Duration, ResponseStatus: r.Status, ResponseBody: r.Body, State: store.EventDelivered,
	}
	if r.Err == nil {
		return a
	}
	a.Error = r.Err.Error()
	delay, again := webhooks.Schedule(e.Retry).Next(e.Attempts+1, r, w.chance)
	if again {
		a.State, a.RetryAfter = store.EventQueued, delay
	} else {
		a.State = store.EventFailed
	}
	return a
}

func (w *Worker) finish(ctx context.Context, e *store.LeasedEvent, a store.Attempt) (kept bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	for try := range finishTries {
		if try > 0 {
			rest(ctx, away)
		}
		if kept, err = w.store.FinishAttempt(ctx, e, a); err == nil {
			return kept, nil
		}
	}
	return false, err
}
