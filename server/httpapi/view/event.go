package view

import (
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// EventSummaryOf returns the view of an event in a list. The parameter declared has the faults of the sandbox.
func EventSummaryOf(e *ledger.Event, declared faults.Set) wire.EventSummary {
	var transaction string
	if e.Transaction != nil {
		transaction = e.Transaction.String()
	}
	return wire.EventSummary{
		ID: e.EventID().String(), Event: e.Name(), Kind: e.Kind, TxID: transaction, Status: string(e.Status), State: string(e.State),
		AttemptCount: e.Attempts, CreatedAt: payments.FormatTime(e.CreatedAt), NextAttemptAt: momentOf(e.NextAttemptAt),
		DeliveredAt: momentOf(e.DeliveredAt), LastResponseStatus: e.LastStatus, LastError: e.LastError,
		LastEffects: declared.Effects(e.LastFaults),
	}
}

// EventDetailOf returns the view of an event with its body and attempts. The parameter declared has the faults of the
// sandbox.
func EventDetailOf(e *ledger.EventDetail, declared faults.Set) wire.EventDetail {
	view := wire.EventDetail{
		EventSummary: EventSummaryOf(&e.Event, declared), Body: string(e.Body), Payload: e.Body, Attempts: []wire.DeliveryAttempt{},
	}
	for i := range e.History {
		view.Attempts = append(view.Attempts, deliveryAttemptOf(&e.History[i], declared))
	}
	return view
}

// CallbackDetailOf returns the view of a callback with its body and attempts. The parameter declared has the faults of
// the sandbox.
func CallbackDetailOf(c *ledger.CallbackDetail, declared faults.Set) wire.EventDetail {
	view := EventDetailOf(&c.EventDetail, declared)
	view.URL, view.Method = c.URL, operators.CallbackOf(&c.Callback, "").Method
	return view
}

func deliveryAttemptOf(a *ledger.AttemptRecord, declared faults.Set) wire.DeliveryAttempt {
	return wire.DeliveryAttempt{
		Number: a.Number, StartedAt: payments.FormatTime(a.StartedAt), RealStartedAt: payments.FormatTime(a.RealStartedAt),
		DurationMs:     a.Duration.Milliseconds(),
		ResponseStatus: a.ResponseStatus, Error: a.Error, ResponseBody: strings.ToValidUTF8(string(a.ResponseBody), "\uFFFD"),
		Faults: a.Faults, Effects: declared.Effects(a.Faults), Copies: attemptCopiesOf(a.Copies),
	}
}

func attemptCopiesOf(copies []ledger.AttemptCopy) (view []wire.AttemptCopy) {
	for _, c := range copies {
		one := wire.AttemptCopy{DurationMs: c.DurationMs, ResponseBody: strings.ToValidUTF8(string(c.ResponseBody), "\uFFFD")}
		if c.ResponseStatus != 0 {
			one.ResponseStatus = &c.ResponseStatus
		}
		if c.Error != "" {
			one.Error = &c.Error
		}
		view = append(view, one)
	}
	return view
}

func momentOf(at *time.Time) *string {
	if at == nil {
		return nil
	}
	return new(payments.FormatTime(*at))
}
