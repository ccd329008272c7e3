package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// Latency is the simulated latency of an outcome, and the scaled time after which it is answered and its event is due.
type Latency struct {
	Simulated time.Duration
	Waited    time.Duration
}

// PayoutLatency are the latencies of the outcomes between which the float decides, under its lock.
type PayoutLatency struct {
	Paid    Latency // SUCCESS
	Refused Latency // INSUFFICIENT_FUNDS
}

// of is the latency of the outcome that a payout had.
func (l PayoutLatency) of(status payments.Status) Latency {
	if status == payments.Success {
		return l.Paid
	}
	return l.Refused
}

// NewDisbursement is a disbursement that is to be recorded.
type NewDisbursement struct {
	Decided
	// Transaction has the status that the recipient decides, Success if the float has to decide; the store completes it.
	Transaction payments.Transaction
	Recipient   *payments.SIM // nil: the number is not in the registry
	Latency     PayoutLatency // of the outcomes that the float decides
	AnswerAfter time.Duration // of an outcome that the recipient decides; filled in by the store otherwise
}

// CreateDisbursement records a disbursement, with the money that it moves and the event that it owes, in one database
// transaction and one round trip. Its errors are those of [Store.CreateCollection].
func (s *Store) CreateDisbursement(ctx context.Context, tenant int64, n *NewDisbursement) error {
	q := s.tenant(tenant)
	var err error
	if n.Transaction.Status == payments.Success {
		err = disburse(ctx, q, tenant, n)
	} else {
		err = record(ctx, q, tenant, &n.Transaction, n.Decided, recording{payer: n.Recipient, answerAfter: n.AnswerAfter})
	}
	return s.recorded(ctx, tenant, n.Transaction.Reference, err)
}

func disburse(ctx context.Context, q *db.Queries, tenant int64, n *NewDisbursement) error {
	t := &n.Transaction
	var recipient pgtype.UUID
	if n.Recipient != nil {
		recipient = uuidOf(n.Recipient.ID)
	}
	row, err := q.BookDisbursement(ctx, db.BookDisbursementParams{
		Tenant: tenant, ConfigVersion: n.ConfigVersion, Reference: t.Reference, SimID: recipient,
		FloatCurrency: string(payments.CanonicalCurrency(t.Currency)), Amount: t.Amount, ID: uuidOf(t.ID),
		RequestHash: n.RequestHash, OrderRef: t.OrderRef, OrderURL: t.OrderURL, URLProtected: t.URLProtected, Store: t.Store,
		Description: t.Description, EnvID: t.EnvironmentID, Operator: string(t.Operator), Country: string(t.Country),
		Currency: t.Currency, MSISDN: t.MSISDN, AbsorptionPct: int32(t.AbsorptionPct),
		PaidLatencyMs: int32(n.Latency.Paid.Simulated.Milliseconds()), RefusedLatencyMs: int32(n.Latency.Refused.Simulated.Milliseconds()),
		PaidAfterMs: milliseconds(n.Latency.Paid.Waited), RefusedAfterMs: milliseconds(n.Latency.Refused.Waited),
	})
	if err != nil {
		return err
	}
	t.Status, t.Latency = row.Status, time.Duration(row.LatencyMs)*time.Millisecond
	t.CreatedAt, t.CompletedAt = row.CreatedAt, row.CompletedAt
	t.MerchantBalanceAfter, t.SIMBalanceAfter = row.MerchantBalanceAfter, row.SimBalanceAfter
	n.AnswerAfter = n.Latency.of(t.Status).Waited
	return nil
}

// NewRefund is a refund that is to be recorded.
type NewRefund struct {
	RequestHash []byte // of the request as sent
	ID          payments.ID
	ParentID    payments.ID
	Reference   string
	Amount      *int64 // nil: all that is left to refund
	Latency     PayoutLatency
}

// CreateRefund records a refund, with the money that it moves and the event that it owes, in one database transaction, and
// returns it with the time after which it is answered.
//
// It returns [ErrNotFound] for a parent that the tenant does not have, payments.ErrNotRefundable and
// payments.ErrExceedsRefundable for one that cannot be refunded so, and the errors of [Store.CreateCollection].
func (s *Store) CreateRefund(ctx context.Context, tenant int64, n NewRefund) (*payments.Transaction, time.Duration, error) {
	row, err := s.tenant(tenant).BookRefund(ctx, db.BookRefundParams{
		Tenant: tenant, Reference: n.Reference, ParentID: uuidOf(n.ParentID), Amount: n.Amount, ID: uuidOf(n.ID),
		RequestHash:   n.RequestHash,
		PaidLatencyMs: int32(n.Latency.Paid.Simulated.Milliseconds()), RefusedLatencyMs: int32(n.Latency.Refused.Simulated.Milliseconds()),
		PaidAfterMs: milliseconds(n.Latency.Paid.Waited), RefusedAfterMs: milliseconds(n.Latency.Refused.Waited),
	})
	if err == nil {
		s.active.note(tenant)
		t := transactionOf((*db.Transaction)(&row))
		return t, n.Latency.of(t.Status).Waited, nil
	}
	err = s.recorded(ctx, tenant, n.Reference, err)
	if !errors.Is(err, ErrConfigChanged) {
		return nil, 0, err
	}
	// Nothing else stood in the way, so it is the parent.
	parent, err := s.GetTransaction(ctx, tenant, n.ParentID)
	if err != nil {
		return nil, 0, err
	}
	if err := parent.CheckRefund(n.Amount); err != nil {
		return nil, 0, err
	}
	return nil, 0, ErrConfigChanged // it can be refunded by now
}
