package httpapi

import (
	"context"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// toldFirstWait bounds how long an answer waits for the first attempt to send its event.
	toldFirstWait = 15 * time.Second
	// The database is asked again and again, in pauses that grow from the first to the last.
	toldFirstPause, toldFirstLastPause = 50 * time.Millisecond, time.Second
)

// awaitedEvent is an event, or the callback of an operator's own API, that is to be sent before its transaction is answered.
type awaitedEvent struct {
	tenant int64
	id     payments.ID
	// faults may send it before, once the status of the transaction is known; nil: it is sent before whatever the status.
	faults faults.Set
	place  faults.Place
}

// toldFirst returns the event of a transaction, or its callback, if that is to be sent before the transaction is answered, else nil. What
// cannot be read now is no reason to wait.
func (s *Server) toldFirst(
	ctx context.Context, where faults.Where, sandbox *sandboxes.Sandbox, t *payments.Transaction,
) *awaitedEvent {
	byNumber := t.TestBehavior == payments.ApproveCallbackFirst
	asks := func(f faults.Fault) bool { return tellsFirst(where, &f) }
	if !byNumber && !slices.ContainsFunc(sandbox.Faults, asks) || sandbox.ClockMode == sandboxes.ManualClock {
		return nil
	}
	e := &awaitedEvent{tenant: sandbox.Tenant, id: t.ID, place: placeOf(t, sandbox)}
	e.place.Where = where
	if byNumber {
		return e
	}
	now, acted, err := s.ledger.RequestInFaults(ctx, sandbox.Tenant, sandbox.Faults, t.Reference)
	if err != nil {
		return nil
	}
	e.faults, e.place.Now = sandbox.Faults, now
	if where == faults.AtWebhook {
		e.place.Event, e.place.Attempt = t.Type.Event(), 1
	}
	fits := e.fits(t.Status)
	used, err := s.ledger.UsedUpFaults(ctx, sandbox.Tenant, fits)
	isLeft := func(f *faults.Fault) bool {
		goesOn := e.place.GoesOn() && slices.Contains(acted, f.Name)
		return e.tellsFirst(f) && (goesOn || !slices.Contains(used, f.Name))
	}
	if err != nil || !slices.ContainsFunc(fits, isLeft) {
		return nil
	}
	return e
}

// tellsFirst reports whether a fault lets it be sent before the answer.
func (e *awaitedEvent) tellsFirst(f *faults.Fault) bool { return tellsFirst(e.place.Where, f) }

func tellsFirst(where faults.Where, f *faults.Fault) bool {
	if where == faults.AtCallback {
		return f.OfCallback().BeforeAnswer
	}
	return f.Webhook != nil && f.Webhook.BeforeAnswer
}

// fits are the faults that fit the first attempt, if the transaction ends with a status. As long as it is pending, any status may come.
func (e *awaitedEvent) fits(status payments.Status) []*faults.Fault {
	set, place := e.faults, e.place
	place.Status = status
	if !status.Terminal() {
		set = slices.Clone(set)
		for i := range set {
			set[i].When.Status = ""
		}
	}
	return set.At(&place)
}

// awaitEvent waits until the first attempt to send an event was made, or none will be made, but not for long. It holds no connection to the
// database meanwhile.
func (s *Server) awaitEvent(ctx context.Context, e *awaitedEvent) {
	until := s.now().Add(toldFirstWait)
	for pause := toldFirstPause; s.now().Before(until); pause = min(2*pause, toldFirstLastPause) {
		first := s.ledger.FirstAttempt
		if e.place.Where == faults.AtCallback {
			first = s.ledger.FirstCallback
		}
		status, done, err := first(ctx, e.tenant, e.id)
		if err != nil || done || e.faults != nil && status.Terminal() && !slices.ContainsFunc(e.fits(status), e.tellsFirst) {
			return
		}
		if !s.pause(ctx, min(pause, until.Sub(s.now()))) {
			return
		}
	}
}
