package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// NewRefund is a refund that is to be recorded.
type NewRefund struct {
	payments.Details        // those that a refund has of its own
	RequestHash      []byte // of the request as sent
	Clocked          bool   // as in [RequestStamp]
	ID               payments.ID
	ParentID         payments.ID
	Amount           *int64 // nil: all that is left to refund
	Optional         OptionalFields
	Latency          PayoutLatency
}

// CreateRefund records a refund, its movements of money and its event in one database transaction. It returns the
// refund, and the time for which its answer is held. A refund that would raise the recipient's SIM beyond
// [payments.MaxBalance] ends with LIMIT_EXCEEDED.
//
// The statement BookRefund in queries/refunds.sql locks the collection, the SIM and the float, in this order.
//
// It returns [ErrNotFound] for a parent that the tenant does not have, payments.ErrNotRefundable or
// payments.ErrExceedsRefundable for a parent that cannot be refunded by this amount, and the errors of
// [Ledger.CreateCollection].
func (l *Ledger) CreateRefund(ctx context.Context, tenant int64, n NewRefund) (*payments.Transaction, time.Duration, error) {
	params := sqlc.BookRefundParams{
		Tenant: tenant, ParentID: postgres.UUID(n.ParentID), Amount: n.Amount, Clocked: n.Clocked, Own: n.Optional.Native != nil,
		PaidLatencyMs: int32(n.Latency.Paid.Simulated.Milliseconds()), RefusedLatencyMs: int32(n.Latency.Refused.Simulated.Milliseconds()),
		PaidAfterMs: postgres.Milliseconds(n.Latency.Paid.Waited), RefusedAfterMs: postgres.Milliseconds(n.Latency.Refused.Waited),
	}
	setBookRefund(&params, &payments.Transaction{Details: n.Details, ID: n.ID}, n.RequestHash)
	q, err := recorder(ctx, l.core.DB.Tenant(tenant), n.Clocked, n.Optional, tenant, n.ID)
	if err != nil {
		return nil, 0, err
	}
	row, err := q.BookRefund(ctx, params)
	if exceedsMaxBalance(err) {
		params.RecipientFull = true
		row, err = q.BookRefund(ctx, params)
	}
	if err == nil {
		l.core.Sandboxes.NoteActivity(tenant)
		t := ledgerdb.TransactionOf((*sqlc.Transaction)(&row))
		n.Optional.complete(t)
		return t, n.Latency.of(t.Status).Waited, nil
	}
	err = l.whyNotRecorded(ctx, tenant, n.Reference, err)
	if !errors.Is(err, postgres.ErrConfigChanged) {
		l.noteRecorded(tenant, err)
		return nil, 0, err
	}
	// No other reason was found: check whether the parent is refundable.
	parent, err := l.GetTransaction(ctx, tenant, n.ParentID)
	if err != nil {
		return nil, 0, err
	}
	if err := parent.CheckRefund(n.Amount); err != nil {
		return nil, 0, err
	}
	return nil, 0, postgres.ErrConfigChanged // the sandbox is suspended or has just changed, or the parent has become refundable
}
