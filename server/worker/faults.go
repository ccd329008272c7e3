package worker

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// send sends an event, changed by the fault that applies to the attempt.
func (d *delivery) send(ctx context.Context, e *ledger.LeasedEvent) webhooks.Result {
	sent := webhooks.Delivery{
		URL: e.URL, Secret: e.SigningSecret, Previous: e.PreviousSecrets, ID: e.ID, Type: e.Transaction.Type, Body: e.Body,
		At: e.TakenAt, // database time, so that receivers accept the signature despite clock skew of this machine
	}
	switch {
	case lost(e):
		return webhooks.Result{StartedAt: e.TakenAt, Err: webhooks.ErrLost{Fault: e.Fault}}
	case e.Fault != nil:
		sent.Fault = e.Fault.Webhook
	}
	return d.sender.Send(ctx, sent)
}

// lost reports whether a fault drops the attempt, so that nothing is sent.
func lost(e *ledger.LeasedEvent) bool { return e.Fault != nil && e.Fault.Webhook.Drop }

// sentOnceMore reports whether a fault duplicates the event, so that the same attempt sends it again. The attempt is
// recorded once, with the result of the last sending. Copies that overlap are sent together.
func sentOnceMore(e *ledger.LeasedEvent) bool {
	return e.Fault != nil && !e.Fault.Webhook.Overlap && e.Sent+1 < e.Fault.Webhook.Duplicate
}

// copiesOf returns the results of the copies of an attempt that were sent at the same moment.
func copiesOf(r webhooks.Result) (copies []ledger.AttemptCopy) {
	for _, c := range r.Copies {
		one := ledger.AttemptCopy{DurationMs: c.Duration.Milliseconds(), ResponseStatus: c.Status}
		one.ResponseBody = c.Body[:min(len(c.Body), ledger.CopyBody)]
		if c.Err != nil {
			one.Error = c.Err.Error()
		}
		copies = append(copies, one)
	}
	return copies
}

// putBack queues a duplicated event again. The event is due after the spacing of its fault. Until then it holds neither
// a slot nor a lease.
func (d *delivery) putBack(ctx context.Context, log *slog.Logger, e *ledger.LeasedEvent) {
	leaseHeld := false
	err := d.retryWrite(ctx, true, func(ctx context.Context) (err error) {
		leaseHeld, err = d.database.SendAgain(ctx, e, e.Fault.Webhook.Spacing.Of())
		return err
	})
	switch {
	case err != nil:
		log.ErrorContext(ctx, "cannot put the event back; it will be sent again when its lease ends", "error", err)
	case !leaseHeld:
		log.WarnContext(ctx, "the delivery attempt took longer than its lease; another worker has the event")
	default:
		log.InfoContext(ctx, "event sent, and to be sent once more", "sent", e.Sent+1, "of", e.Fault.Webhook.Duplicate)
	}
}

// jitterOf returns the random source for the jitter of an event's next retry. If the sandbox has a seed, the source is
// deterministic; otherwise it is w.chance.
func (w *Worker) jitterOf(e *ledger.LeasedEvent) func() float64 {
	if e.Seed == nil {
		return w.chance
	}
	return func() float64 {
		return faults.DrawsOf(e.Seed, e.Tenant).Float("retry after attempt "+strconv.Itoa(e.Attempts+1), e.Transaction.Reference)
	}
}

// callBackAgain queues a duplicated callback again, in the same attempt.
func (w *Worker) callBackAgain(ctx context.Context, log *slog.Logger, c *ledger.LeasedCallback) {
	leaseHeld := false
	err := w.retryWrite(ctx, true, func(ctx context.Context) (err error) {
		leaseHeld, err = w.database.SendCallbackAgain(ctx, c)
		return err
	})
	switch {
	case err != nil:
		log.ErrorContext(ctx, "cannot put the callback back; it will be sent again when its lease ends", "error", err)
	case !leaseHeld:
		log.WarnContext(ctx, "the callback took longer than its lease; another worker has it")
	default:
		log.InfoContext(ctx, "callback sent, and to be sent once more", "sent", c.TimesSent+1, "of", c.Fault.OfCallback().Duplicate)
	}
}

// reasonIn returns the failure reason that a fault sets, or "".
func reasonIn(f *faults.Fault) string {
	if f == nil || f.Operator == nil {
		return ""
	}
	return f.Operator.Reason
}

// countCallback counts a callback. Callbacks with a fault have their own counter, to keep them out of the success rate.
func (w *Worker) countCallback(c *ledger.LeasedCallback, result, reason string) {
	switch {
	case c.Fault == nil:
		w.metrics.CalledBack(string(c.Operator), result, reason)
	case result == telemetry.DeliveryAcknowledged || result == telemetry.DeliveryFailed || result == telemetry.DeliveryRetried:
		w.metrics.WithFault(string(faults.OperatorKind))
	}
}
