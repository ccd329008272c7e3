package ledger

import (
	"cmp"
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Latency is the simulated latency of an outcome. Waited is the scaled latency, for which the answer and the event
// wait.
type Latency struct {
	Simulated time.Duration
	Waited    time.Duration
}

// PayoutLatency has the latency for each possible outcome of a refund or disbursement.
type PayoutLatency struct {
	Paid    Latency // SUCCESS
	Refused Latency // INSUFFICIENT_FUNDS, and [NewDisbursement.Failed], as LIMIT_EXCEEDED: the SIM would exceed MaxBalance
	Unknown Latency // of a disbursement to a number that is not in the registry
	Blocked Latency // of a disbursement to a SIM that is blocked
}

// of returns the latency of an outcome.
func (l PayoutLatency) of(status payments.Status) Latency {
	switch status {
	case payments.Success:
		return l.Paid
	case payments.InsufficientFunds, payments.LimitExceeded:
		return l.Refused
	case payments.AccountBlocked:
		return l.Blocked
	}
	return l.Unknown
}

// all returns the latencies in the order in which the statements take them, in milliseconds.
func (l PayoutLatency) all() (simulated []int32, waited []float64) {
	for _, one := range [...]Latency{l.Paid, l.Refused, l.Unknown, l.Blocked} {
		simulated, waited = append(simulated, int32(one.Simulated.Milliseconds())), append(waited, postgres.Milliseconds(one.Waited))
	}
	return simulated, waited
}

// NewDisbursement is a disbursement that is to be recorded.
type NewDisbursement struct {
	RequestStamp
	// The statement decides the status, at the moment of the insert: first by the recipient in the SIM registry, then by the float. The
	// ledger completes the transaction.
	Transaction payments.Transaction
	Optional    OptionalFields
	Unknown     payments.Status // status for a number that is not in the registry; empty: the float decides
	// Failed is the status of a failure that is decided already, whoever the recipient is; empty for none. It is set
	// only for a request of an operator's own API, or by an earlier try that found that the SIM would exceed
	// [payments.MaxBalance].
	Failed      payments.Status
	Latency     PayoutLatency
	AnswerAfter time.Duration // filled in by the ledger
}

// CreateDisbursement records a disbursement, with the money that it moves and the event that it owes, in one database
// transaction and one round trip. A disbursement that would raise the recipient's SIM beyond [payments.MaxBalance] ends
// with the status LIMIT_EXCEEDED. It returns the errors of [Ledger.CreateCollection].
func (l *Ledger) CreateDisbursement(ctx context.Context, tenant int64, n *NewDisbursement) (err error) {
	at := postgres.QueueKey{Tenant: tenant, Name: floatOf(&n.Transaction)}
	if n.Clocked || !n.Optional.none() {
		err = l.bookDisbursement(ctx, at, n, false)
	} else {
		err = l.disbursements.Do(ctx, at, n)
	}
	if exceedsMaxBalance(err) {
		n.Failed = payments.LimitExceeded
		err = l.bookDisbursement(ctx, at, n, false)
	}
	if err != nil {
		err = l.whyNotRecorded(ctx, tenant, n.Transaction.Reference, err)
	}
	l.noteRecorded(tenant, err)
	return err
}

// blockedRecipient is the outcome of a disbursement to a SIM that is blocked.
var blockedRecipient = string(payments.DisbursementFacts{Recipient: &payments.SIM{Blocked: true}}.Outcome())

// bookDisbursement books one disbursement.
func (l *Ledger) bookDisbursement(ctx context.Context, at postgres.QueueKey, n *NewDisbursement, _ bool) error {
	t := &n.Transaction
	latencies, after := n.Latency.all()
	q, err := recorder(ctx, l.core.DB.VersionChecked(at.Tenant).Unfollowed(n.Unfollowed), n.Clocked, n.Optional, at.Tenant, t.ID)
	if err != nil {
		return err
	}
	p := sqlc.BookDisbursementParams{
		Tenant: at.Tenant, ConfigVersion: n.ConfigVersion, UnknownStatus: n.unknown(), BlockedStatus: blockedRecipient,
		Failed: string(n.Failed), Own: n.Optional.Native != nil, Latencies: latencies, AfterMs: after,
	}
	setBookDisbursement(&p, t, n.RequestHash)
	row, err := q.BookDisbursement(ctx, p)
	if err != nil {
		return err
	}
	n.complete(row)
	return nil
}

func (n *NewDisbursement) unknown() string { return string(cmp.Or(n.Unknown, payments.Success)) }

// complete copies the recorded values into n.
func (n *NewDisbursement) complete(row sqlc.BookDisbursementRow) {
	t := &n.Transaction
	t.Status, t.Latency = row.Status, time.Duration(row.LatencyMs)*time.Millisecond
	t.ID, t.CreatedAt, t.CompletedAt = row.ID.Bytes, row.CreatedAt, row.CompletedAt
	t.MerchantBalanceAfter, t.SIMBalanceAfter = row.MerchantBalanceAfter, row.SimBalanceAfter
	if n.AnswerAfter = n.Latency.of(t.Status).Waited; n.Failed != "" {
		n.AnswerAfter = n.Latency.Refused.Waited
	}
	n.Optional.complete(t)
}
