package ledger

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// Handset is what the phone of a test client shows.
type Handset struct {
	TestClient
	Prompt *Prompt // the oldest one; nil: nothing waits for an answer
	// Last is the newest transaction with an outcome that moved the balance, or the newest collection that failed and is
	// among the [RecentFailures] newest transactions of the sandbox; nil: there is none.
	Last *payments.Transaction
}

// RecentFailures is the number of transactions of a sandbox among which a handset looks for one that failed. No index
// finds failed transactions by their SIM.
const RecentFailures = 200

// Handsets returns what the phones of these test clients show, in the same order.
func (l *Ledger) Handsets(ctx context.Context, tenant int64, clients []TestClient) ([]Handset, error) {
	handsets, at := make([]Handset, len(clients)), map[[16]byte]*Handset{}
	ids := make([]pgtype.UUID, len(clients))
	for i := range clients {
		handsets[i].TestClient = clients[i]
		at[clients[i].ID], ids[i] = &handsets[i], postgres.UUID(clients[i].ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	waiting, err := l.core.Tenant(tenant).OldestPrompts(ctx, tenant, ids)
	if err != nil {
		return nil, postgres.Classify(err, "reading what phones ask")
	}
	for _, row := range waiting {
		at[row.SimID.Bytes].Prompt = &Prompt{
			ID: row.ID.Bytes, Amount: row.Amount, CustomerTotal: row.NetAmount + row.Commission, Currency: row.Currency, Store: row.Store,
			Reference: row.Reference, Description: row.Description, CreatedAt: row.CreatedAt, ExpiresAt: *row.ExpiresAt,
		}
	}
	ended, err := l.core.Tenant(tenant).LastOutcomes(ctx, ids, tenant, RecentFailures)
	if err != nil {
		return nil, postgres.Classify(err, "reading the messages of phones")
	}
	for i := range ended {
		t := ledgerdb.TransactionOf(&ended[i].Transaction)
		if h := at[ended[i].Transaction.SimID.Bytes]; h.Last == nil || h.Last.CompletedAt.Before(*t.CompletedAt) {
			h.Last = t
		}
	}
	var last []*payments.Transaction
	for i := range handsets {
		if t := handsets[i].Last; t != nil {
			last = append(last, t)
		}
	}
	return handsets, ledgerdb.AddSent(ctx, l.core.Tenant(tenant), tenant, last...)
}
