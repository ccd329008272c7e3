package worker

import (
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/telemetry"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// resultOf is the metric label for the state of an event after an attempt.
var resultOf = map[ledger.EventState]string{
	ledger.EventDelivered: telemetry.DeliveryAcknowledged,
	ledger.EventQueued:    telemetry.DeliveryRetried,
	ledger.EventFailed:    telemetry.DeliveryFailed,
}

// countAttempt counts an attempt after the write of its result. Attempts with a fault have their own counter, to keep
// them out of the success rate.
func (w *Worker) countAttempt(e *ledger.LeasedEvent, r webhooks.Result, a ledger.AttemptResult, leaseHeld bool, err error) {
	result := resultOf[a.State]
	switch {
	case e.Fault != nil:
		if leaseHeld && err == nil {
			w.metrics.WithFault(string(faults.WebhookKind))
		}
		return
	case err != nil:
		result = telemetry.DeliveryUnrecorded
	case !leaseHeld:
		result = telemetry.DeliveryLost
	}
	w.metrics.Attempted(telemetry.Attempt{Result: result, Reason: r.Kind(), Duration: r.Duration, Retry: e.Attempts > 0})
}

// observeAttempt ends the span of an attempt. The only data of the receiver in the span is its HTTP status.
func (w *Worker) observeAttempt(span telemetry.Span, e *ledger.LeasedEvent, r webhooks.Result, a ledger.AttemptResult) {
	if span.Followed() {
		span.Set(attribute.String("cauri.event", webhooks.EventID(e.ID)), attribute.String("cauri.transaction", e.ID.String()),
			attribute.String("cauri.organization", e.OrganizationID), attribute.String("cauri.event_type", e.Transaction.Type.Event()),
			attribute.Int("cauri.attempt", e.Attempts+1), attribute.String("cauri.event_state", string(a.State)),
			attribute.Int("http.response.status_code", r.Status))
		if kind := r.Kind(); kind != "" {
			span.Fail(kind)
		}
	}
	span.End()
}

// observeForward counts an exchange with an operator and ends its span.
func (w *Worker) observeForward(span telemetry.Span, f *ledger.Forward, d decision, s exchanged, took time.Duration) {
	operator := string(f.Transaction.Operator)
	w.metrics.Forwarded(operator, string(d.status()), took)
	if span.Followed() {
		span.Set(attribute.String("cauri.transaction", f.Transaction.ID.String()), attribute.String("cauri.organization", f.OrganizationID),
			attribute.String("cauri.operator", operator), attribute.String("cauri.status", string(d.status())))
		var refused adapter.ErrRefused
		switch {
		case errors.As(s.err, &refused):
			span.Fail("refused")
		case s.err != nil:
			span.Fail("no answer")
		}
	}
	span.End()
}
