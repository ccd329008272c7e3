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
	// beforeAnswerWait bounds how long an answer waits for the first delivery attempt.
	beforeAnswerWait = 15 * time.Second
	// The polling interval grows from firstEventPause to lastEventPause.
	firstEventPause, lastEventPause = 50 * time.Millisecond, time.Second
)

// BeforeAnswer is a message that is sent before the answer to the request of its transaction. The message is an event,
// or the callback of an operator's own API.
type BeforeAnswer struct {
	service *Service
	tenant  int64
	id      payments.ID
	// The field faults has the faults of the sandbox. One of them may send the message before the answer, depending on
	// the status of the transaction. The field is nil if a test number decides that the message is sent before the
	// answer.
	faults faults.Set
	target faults.Target
}

// beforeAnswer returns the message that is sent before the answer: the callback, or else the event, or nil.
func (s *Service) beforeAnswer(
	ctx context.Context, sandbox *sandboxes.Sandbox, r *recording, t *payments.Transaction,
) *BeforeAnswer {
	event := s.sentBefore(ctx, faults.AtWebhook, sandbox, t)
	if r.Call == nil || len(r.Call.Callbacks) == 0 {
		return event
	}
	return cmp.Or(s.sentBefore(ctx, faults.AtCallback, sandbox, t), event)
}

// sentBefore returns the message of a transaction if it is sent before the answer. The message is the event or, if kind
// is [faults.AtCallback], the callback. sentBefore returns nil if the message is not sent before the answer, and after
// an error of the database.
func (s *Service) sentBefore(
	ctx context.Context, kind faults.TargetKind, sandbox *sandboxes.Sandbox, t *payments.Transaction,
) *BeforeAnswer {
	byNumber := t.TestBehavior == payments.ApproveCallbackFirst
	asks := func(f faults.Fault) bool { return asksForBefore(kind, &f) }
	if !byNumber && !slices.ContainsFunc(s.faultsOf(sandbox), asks) || sandbox.ClockMode == sandboxes.ManualClock {
		return nil
	}
	b := &BeforeAnswer{service: s, tenant: sandbox.Tenant, id: t.ID, target: targetOfTransaction(t, sandbox)}
	b.target.Kind = kind
	if !byNumber && !b.mayApply(ctx, sandbox, t) {
		return nil
	}
	return b
}

// mayApply reports whether a fault may send the message before the answer. A fault whose count is used up applies only
// if it already applies to this reference.
func (b *BeforeAnswer) mayApply(ctx context.Context, sandbox *sandboxes.Sandbox, t *payments.Transaction) bool {
	set := b.service.faultsOf(sandbox)
	now, applied, err := b.service.ledger.RequestInFaults(ctx, sandbox.Tenant, set, t.Reference)
	if err != nil {
		return false
	}
	b.faults, b.target.Now = set, now
	if b.target.Kind == faults.AtWebhook {
		b.target.Event, b.target.Attempt = t.Type.Event(), 1
	}
	fits := b.fits(t.Status)
	used, err := b.service.ledger.UsedUpFaults(ctx, sandbox.Tenant, fits)
	isLeft := func(f *faults.Fault) bool {
		goesOn := b.target.GoesOn() && slices.Contains(applied, f.Name)
		return b.asks(f) && (goesOn || !slices.Contains(used, f.Name))
	}
	return err == nil && slices.ContainsFunc(fits, isLeft)
}

// asks reports whether a fault says that the message is sent before the answer.
func (b *BeforeAnswer) asks(f *faults.Fault) bool { return asksForBefore(b.target.Kind, f) }

func asksForBefore(where faults.TargetKind, f *faults.Fault) bool {
	if where == faults.AtCallback {
		return f.OfCallback().BeforeAnswer
	}
	return f.Webhook != nil && f.Webhook.BeforeAnswer
}

// fits returns the faults that fit the first delivery attempt of a transaction with this status. For a pending
// transaction, it ignores the status that a fault requires.
func (b *BeforeAnswer) fits(status payments.Status) []*faults.Fault {
	set, target := b.faults, b.target
	target.Status = status
	if !status.Terminal() {
		set = slices.Clone(set)
		for i := range set {
			set[i].When.Status = ""
		}
	}
	return set.Matching(&target)
}

// Wait waits until the first delivery attempt has ended, or until it is known that no attempt is made before the
// answer. It waits for at most 15 seconds, in real time. It polls the database without holding a connection. It returns
// earlier if ctx ends or the process is told to stop.
func (b *BeforeAnswer) Wait(ctx context.Context) {
	s := b.service
	until := s.now().Add(beforeAnswerWait)
	for pause := firstEventPause; s.now().Before(until); pause = min(2*pause, lastEventPause) {
		if b.isOver(ctx) || !s.pause(ctx, min(pause, until.Sub(s.now()))) {
			return
		}
	}
}

// isOver reports whether the wait is over: the first attempt has ended, no fault sends the message before the answer,
// or the database has returned an error.
func (b *BeforeAnswer) isOver(ctx context.Context) bool {
	firstAttempt := b.service.ledger.FirstAttempt
	if b.target.Kind == faults.AtCallback {
		firstAttempt = b.service.ledger.FirstCallback
	}
	status, attempted, err := firstAttempt(ctx, b.tenant, b.id)
	return err != nil || attempted || b.faults != nil && status.Terminal() && !slices.ContainsFunc(b.fits(status), b.asks)
}
