package service

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// Refund records a refund of the collection that the order names as its parent. For a repeated request, it returns the
// refund that the first request recorded. It returns [ErrNoParent], [payments.ErrNotRefundable] or
// [payments.ErrExceedsRefundable] if the collection cannot be refunded.
func (s *Service) Refund(ctx context.Context, who *Caller, o Order) (Recorded, error) {
	return s.record(ctx, who, newRecording(payments.Refund, o), s.requestOfRefund, s.tryRefund)
}

// tryRefund records a refund.
func (s *Service) tryRefund(ctx context.Context, who *Caller, r *recording) (Recorded, error) {
	sandbox := who.Sandbox
	parent, err := s.refundable(ctx, sandbox.Tenant, &r.Order.Order)
	if err != nil {
		return Recorded{}, orNoParent(err)
	}
	id, err := payments.NewID(s.now(), s.random)
	if err != nil {
		return Recorded{}, err
	}
	if err := s.ensureReference(r, payments.OriginOf(parent.Reference), payments.OpRefund); err != nil {
		return Recorded{}, err
	}
	begun := s.now()
	t, after, err := s.ledger.CreateRefund(ctx, sandbox.Tenant, ledger.NewRefund{
		Details: r.Details, ID: id, ParentID: parent.ID, Amount: refundAmount(&r.Order.Order), RequestHash: r.fingerprint,
		Clocked: sandbox.Clocked, Latency: s.payoutLatency(sandbox, r.Reference),
		Optional: optionalFields(who, r),
	})
	if err != nil {
		return Recorded{}, orNoParent(err)
	}
	return Recorded{Transaction: t, AnswerAt: begun.Add(after)}, nil
}

// refundable returns the collection that an order refunds.
func (s *Service) refundable(ctx context.Context, tenant int64, o *payments.Order) (*payments.Transaction, error) {
	parent, err := s.ledger.GetTransaction(ctx, tenant, o.Parent)
	if err != nil {
		return nil, err
	}
	return parent, parent.CheckRefund(refundAmount(o))
}

// orNoParent returns [ErrNoParent] for [ledger.ErrNotFound], and other errors unchanged.
func orNoParent(err error) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return ErrNoParent
	}
	return err
}

// refundAmount returns the amount of a refund; nil for the whole rest of the collection.
func refundAmount(o *payments.Order) *int64 {
	if o.Amount == 0 {
		return nil
	}
	return &o.Amount
}
