package worker

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// lease is the duration of an event's lease. It is longer than an attempt with the write of its result, so that no
// other worker sends the event during the attempt. It is short, so that the events of a worker that died are soon sent.
const lease = webhooks.AttemptTimeout + 5*time.Second

// deliveryDatabase has the methods of the database that the delivery needs.
type deliveryDatabase interface {
	TenantsToDeliver(ctx context.Context) ([]queues.DueTenant, error)
	LeaseDueEvents(ctx context.Context, from []queues.SlotGrant, lease time.Duration, build ledger.BuildBody) (
		leased []ledger.LeasedEvent, found map[int64]int, err error)
	GiveBackEvents(ctx context.Context, events []ledger.LeasedEvent) error
	FinishAttempts(ctx context.Context, finished []ledger.FinishedAttempt) (leaseHeld []bool, err error)
	SendAgain(ctx context.Context, e *ledger.LeasedEvent, spacing time.Duration) (leaseHeld bool, err error)
}

// delivery sends events.
type delivery struct {
	*Worker
	results resultWriter
}

// deliver sends events until ctx ends. Then it finishes the attempts that have started.
func (w *Worker) deliver(ctx context.Context) {
	d := &delivery{Worker: w, results: resultWriter{w, make(chan result, w.concurrency)}}
	var writing sync.WaitGroup
	writing.Go(func() { d.results.run(ctx) })
	dispatcher := leasedDispatcher[ledger.LeasedEvent]{
		worker: w, name: "delivery", queue: w.delivering, inUse: w.queues.events,
		listDue: w.database.TenantsToDeliver, lease: d.leaseEvents, attempt: d.attempt, release: w.database.GiveBackEvents,
		tenant: func(e *ledger.LeasedEvent) int64 { return e.Tenant },
	}
	dispatcher.run(ctx)
	close(d.results.queue)
	writing.Wait()
}

func (d *delivery) leaseEvents(ctx context.Context, grants []queues.SlotGrant) ([]ledger.LeasedEvent, map[int64]int, error) {
	return d.database.LeaseDueEvents(ctx, grants, lease, buildBody)
}

func buildBody(organizationID string, t *payments.Transaction) ([]byte, error) {
	return webhooks.Body(organizationID, t, operators.Raw(t))
}

// attempt sends one event. Once the result is recorded, it writes one log line with all details.
func (d *delivery) attempt(ctx context.Context, e *ledger.LeasedEvent) (end attemptEnd, record func()) {
	logged := append(make([]slog.Attr, 0, 12), // not Logger.With, each call of which copies all attributes before it
		slog.String("event", webhooks.EventID(e.ID)), slog.String("transaction", e.ID.String()),
		slog.String("organization", e.OrganizationID), slog.String("type", e.Transaction.Type.Event()),
		slog.Int("attempt", e.Attempts+1), slog.Bool("probe", e.Probe))
	if e.Problem != nil {
		// The receiver did not cause this, so the attempt does not count. The event is due again when its lease
		// expires.
		d.metrics.Attempted(telemetry.Attempt{Result: telemetry.DeliveryUnsendable})
		return notSent, func() {
			d.log.LogAttrs(ctx, slog.LevelError, "event cannot be sent", append(logged, slog.Any("error", e.Problem))...)
		}
	}
	traced, span := d.tracing.Call(ctx, "delivery attempt")
	result := d.send(traced, e)
	a := d.judge(e, result)
	d.observeAttempt(span, e, result, a)
	logged = append(logged, slog.String("state", string(a.State)), slog.Int("status", result.Status),
		slog.Duration("duration", result.Duration), slog.Duration("retry_after", a.RetryAfter))
	if result.Err != nil {
		logged = append(logged, slog.Any("reason", result.Err))
	}
	if e.Fault != nil {
		logged = append(logged, slog.String("fault", e.Fault.Name))
	}
	end = attemptEndOf(result.Status != 0, result.Duration)
	switch {
	case sentOnceMore(e):
		return end, func() { d.putBack(ctx, slog.New(d.log.Handler().WithAttrs(logged)), e) }
	case lost(e):
		end = lostByFault
	}
	return end, func() {
		leaseHeld, err := d.results.write(e, a)
		d.countAttempt(e, result, a, leaseHeld, err)
		switch {
		case err != nil:
			d.log.LogAttrs(ctx, slog.LevelError, "cannot record the delivery attempt; the event will be sent again",
				append(logged, slog.Any("error", err))...)
		case !leaseHeld:
			d.log.LogAttrs(ctx, slog.LevelWarn, "the delivery attempt took longer than its lease; another worker has the event", logged...)
		default:
			d.log.LogAttrs(ctx, slog.LevelInfo, "delivery attempt", logged...)
		}
	}
}

// judge decides the next state of an event after an attempt: delivered, failed, or queued. An event is sent more than
// once for one of these causes:
//
//   - A retry: the attempt failed, and judge queues the event for the time that [webhooks.Schedule] returns.
//   - Its lease expires before a result is recorded: the worker died, was too slow, or could not write the result.
//   - A merchant asks for it, see [ledger.Ledger.ResendEvent].
//   - A fault duplicates it: it is sent several times in one attempt, see sentOnceMore.
func (w *Worker) judge(e *ledger.LeasedEvent, r webhooks.Result) ledger.AttemptResult {
	a := ledger.AttemptResult{
		StartedAt: e.Now, Duration: r.Duration, ResponseStatus: r.Status, ResponseBody: r.Body, State: ledger.EventDelivered,
		Signed: ledger.Signature(r.Signed), Copies: copiesOf(r),
	}
	if r.Err == nil {
		return a
	}
	a.Error = r.Err.Error()
	schedule := webhooks.Schedule(e.Retry)
	if e.Probe && r.Status != http.StatusGone {
		a.State, a.RetryAfter = ledger.EventQueued, schedule.AfterProbe(r)
		return a
	}
	delay, again := schedule.Next(e.Attempts-e.Uncounted+1, r, w.jitterOf(e))
	if again {
		// The delay is rounded up to a millisecond, the precision of shown times. So the same seed shows the same
		// times.
		a.State, a.RetryAfter = ledger.EventQueued, (delay + time.Millisecond - 1).Truncate(time.Millisecond)
	} else {
		a.State = ledger.EventFailed
	}
	return a
}
