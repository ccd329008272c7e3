package ledgertest

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// PayoutLatencies are the latencies of refunds and disbursements.
var PayoutLatencies = ledger.PayoutLatency{
	Paid:    ledger.Latency{Simulated: 1200 * time.Millisecond, Waited: 3 * time.Second},
	Refused: ledger.Latency{Simulated: 700 * time.Millisecond, Waited: 1500 * time.Millisecond},
	Unknown: ledger.Latency{Simulated: time.Second, Waited: 500 * time.Millisecond},
	Blocked: ledger.Latency{Simulated: 900 * time.Millisecond, Waited: 400 * time.Millisecond},
}

// NewID makes the id of a transaction.
func NewID(t *testing.T) payments.ID {
	t.Helper()
	id, err := payments.NewID(time.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Refund makes a refund of a parent; amount 0 refunds all that is left.
func (w *Fixture) Refund(parent payments.ID, reference string, amount int64) ledger.NewRefund {
	w.T.Helper()
	n := ledger.NewRefund{
		RequestHash: RequestHash(reference), Clocked: w.Sandbox.Clocked,
		ID: NewID(w.T), ParentID: parent, Details: payments.Details{Reference: reference}, Latency: PayoutLatencies,
	}
	if amount != 0 {
		n.Amount = &amount
	}
	return n
}

// Refunded records a refund.
func (w *Fixture) Refunded(parent payments.ID, reference string, amount int64) *payments.Transaction {
	w.T.Helper()
	t, _, err := w.CreateRefund(w.T.Context(), w.Sandbox.Tenant, w.Refund(parent, reference, amount))
	if err != nil {
		w.T.Fatal(err)
	}
	return t
}

// Disbursement makes a disbursement in RWF that ends with a status. A disbursement that is to fail goes to an unknown
// number, and its Unknown is this status.
func (w *Fixture) Disbursement(reference string, status payments.Status, msisdn string, amount int64) *ledger.NewDisbursement {
	w.T.Helper()
	c := w.Collection(reference, status, msisdn)
	t := c.Transaction
	t.Type, t.Amount, t.Commission, t.NetAmount = payments.Disbursement, amount, 0, amount
	n := &ledger.NewDisbursement{RequestStamp: c.RequestStamp, Transaction: t, Latency: PayoutLatencies}
	if status != payments.Success {
		n.Transaction.MSISDN, n.Unknown = "+250788999998", status
	}
	return n
}

// Disburse records a disbursement.
func (w *Fixture) Disburse(n *ledger.NewDisbursement) *payments.Transaction {
	w.T.Helper()
	if err := w.CreateDisbursement(w.T.Context(), w.Sandbox.Tenant, n); err != nil {
		w.T.Fatal(err)
	}
	return &n.Transaction
}
