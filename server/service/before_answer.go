package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// beforeAnswerWait bounds how long an answer waits for the first attempt to send its event.
	beforeAnswerWait = 15 * time.Second
	// The pauses between two polls of the database grow from the first to the last.
	firstEventPause, lastEventPause = 50 * time.Millisecond, time.Second
)

// BeforeAnswer is an event, or the callback of an operator's own API, that is sent before its transaction is answered.
type BeforeAnswer struct {
	service *Service
	tenant  int64
	id      payments.ID
	// faults are those of the sandbox. Whether one of them has the event sent before the answer depends on the status of
	// the transaction. nil: the event is sent before the answer whatever the status, as a test number asks for.
	faults faults.Set
	place  faults.Place
}

// beforeAnswer returns what is sent before a transaction is answered: its callback, or else its event; nil for nothing.
func (s *Service) beforeAnswer(
	ctx context.Context, sandbox *sandboxes.Sandbox, asked *intent, t *payments.Transaction,
) *BeforeAnswer {
	event := s.sentBefore(ctx, faults.AtWebhook, sandbox, t)
	if asked.Call == nil || asked.Call.CallbackURL == "" {
		return event
	}
	return cmp.Or(s.sentBefore(ctx, faults.AtCallback, sandbox, t), event)
}

// sentBefore returns the event of a transaction, or its callback, if it is sent before the answer, else nil. If the
// database cannot tell at the moment, it returns nil and the answer does not wait.
func (s *Service) sentBefore(
	ctx context.Context, where faults.Where, sandbox *sandboxes.Sandbox, t *payments.Transaction,
) *BeforeAnswer {
	byNumber := t.TestBehavior == payments.ApproveCallbackFirst
	asks := func(f faults.Fault) bool { return asksForBefore(where, &f) }
	if !byNumber && !slices.ContainsFunc(sandbox.Faults, asks) || sandbox.ClockMode == sandboxes.ManualClock {
		return nil
	}
	b := &BeforeAnswer{service: s, tenant: sandbox.Tenant, id: t.ID, place: placeOfTransaction(t, sandbox)}
	b.place.Where = where
	if !byNumber && !b.mayApply(ctx, sandbox, t) {
		return nil
	}
	return b
}

// mayApply reports whether a fault may send the first attempt before the answer. A fault that has applied as often as
// it may does not count.
func (b *BeforeAnswer) mayApply(ctx context.Context, sandbox *sandboxes.Sandbox, t *payments.Transaction) bool {
	now, applied, err := b.service.ledger.RequestInFaults(ctx, sandbox.Tenant, sandbox.Faults, t.Reference)
	if err != nil {
		return false
	}
	b.faults, b.place.Now = sandbox.Faults, now
	if b.place.Where == faults.AtWebhook {
		b.place.Event, b.place.Attempt = t.Type.Event(), 1
	}
	fits := b.fits(t.Status)
	used, err := b.service.ledger.UsedUpFaults(ctx, sandbox.Tenant, fits)
	isLeft := func(f *faults.Fault) bool {
		goesOn := b.place.GoesOn() && slices.Contains(applied, f.Name)
		return b.asks(f) && (goesOn || !slices.Contains(used, f.Name))
	}
	return err == nil && slices.ContainsFunc(fits, isLeft)
}

// asks reports whether a fault has the event or callback sent before the answer.
func (b *BeforeAnswer) asks(f *faults.Fault) bool { return asksForBefore(b.place.Where, f) }

func asksForBefore(where faults.Where, f *faults.Fault) bool {
	if where == faults.AtCallback {
		return f.OfCallback().BeforeAnswer
	}
	return f.Webhook != nil && f.Webhook.BeforeAnswer
}

// fits returns the faults that fit the first attempt of a transaction with this status. While the transaction is
// pending, faults of every status fit.
func (b *BeforeAnswer) fits(status payments.Status) []*faults.Fault {
	set, place := b.faults, b.place
	place.Status = status
	if !status.Terminal() {
		set = slices.Clone(set)
		for i := range set {
			set[i].When.Status = ""
		}
	}
	return set.At(&place)
}

// Wait waits until the first attempt was made or no attempt will be made, at most [beforeAnswerWait]. It holds no
// connection to the database meanwhile. It returns early when ctx ends or the process is told to stop.
func (b *BeforeAnswer) Wait(ctx context.Context) {
	s := b.service
	until := s.now().Add(beforeAnswerWait)
	for pause := firstEventPause; s.now().Before(until); pause = min(2*pause, lastEventPause) {
		if b.isOver(ctx) || !s.pause(ctx, min(pause, until.Sub(s.now()))) {
			return
		}
	}
}

// isOver reports whether the first attempt was made, or will not be made before the answer.
func (b *BeforeAnswer) isOver(ctx context.Context) bool {
	firstAttempt := b.service.ledger.FirstAttempt
	if b.place.Where == faults.AtCallback {
		firstAttempt = b.service.ledger.FirstCallback
	}
	status, attempted, err := firstAttempt(ctx, b.tenant, b.id)
	return err != nil || attempted || b.faults != nil && status.Terminal() && !slices.ContainsFunc(b.fits(status), b.asks)
}
