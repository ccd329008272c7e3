package lists

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// longestPending is the longest time that a collection may wait for its payer, as the resource allows it, with an hour
// for a worker that is late.
const longestPending = 25 * time.Hour

// Paid says which successful collections [Transactions.ListPaid] returns: at most Most of those that were paid at From
// or later, and before Before, without the first Skip of them.
type Paid struct {
	Operator     payments.Operator
	Country      payments.Country
	From, Before time.Time // in sandbox time
	Sent         payments.SentValue
	Skip, Most   int32
}

// ListPaid returns successful collections, in the order in which they were made.
func (l *Transactions) ListPaid(ctx context.Context, tenant int64, p Paid) ([]*payments.Transaction, error) {
	q := l.core.Tenant(tenant)
	rows, err := q.ListPaid(ctx, sqlc.ListPaidParams{
		Tenant: tenant, Operator: string(p.Operator), Country: string(p.Country), PaidFrom: p.From, PaidBefore: p.Before,
		After: postgres.UUID(payments.FirstID(p.From.Add(-longestPending))), Before: postgres.UUID(payments.FirstID(p.Before)),
		Key: p.Sent.Key, Value: p.Sent.Value, Others: p.Sent.Others, Skip: p.Skip, Most: p.Most,
	})
	if err != nil {
		return nil, postgres.Classify(err, "listing paid collections")
	}
	paid := make([]*payments.Transaction, len(rows))
	for i := range rows {
		paid[i] = ledgerdb.TransactionOf(&rows[i])
	}
	return paid, ledgerdb.AddSent(ctx, q, tenant, paid...)
}
