package ledger

import (
	"context"
	"slices"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// The statements for requests that wait for the same float: see [postgres.Coalescer].

// bookCollections books several collections of a float in one statement. booked[i] reports whether all[i] was booked.
func (l *Ledger) bookCollections(ctx context.Context, at postgres.QueueKey, all []*NewCollection) ([]bool, error) {
	p := sqlc.BookCollectionsParams{Tenant: at.Tenant, FloatCurrency: at.Name}
	unfollowed := true
	for _, n := range all {
		addBookCollections(&p, &n.Transaction, n.RequestHash)
		unfollowed = unfollowed && n.Unfollowed
		p.ConfigVersions = append(p.ConfigVersions, n.ConfigVersion)
		p.Latencies = append(p.Latencies, int32(n.Transaction.Latency.Milliseconds()))
		p.AfterMs = append(p.AfterMs, postgres.Milliseconds(n.AnswerAfter))
	}
	rows, err := l.bookTogether(at.Tenant, unfollowed).BookCollections(ctx, p)
	if err != nil {
		return nil, err
	}
	booked := make([]bool, len(all))
	for _, row := range rows {
		i := slices.Index(p.Ids, row.ID)
		booked[i] = true
		all[i].complete(sqlc.BookCollectionRow(row))
	}
	return booked, nil
}

// bookDisbursements is bookCollections for disbursements.
func (l *Ledger) bookDisbursements(ctx context.Context, at postgres.QueueKey, all []*NewDisbursement) ([]bool, error) {
	p := sqlc.BookDisbursementsParams{Tenant: at.Tenant, FloatCurrency: at.Name, BlockedStatus: blockedRecipient}
	unfollowed := true
	for _, n := range all {
		latencies, after := n.Latency.all()
		addBookDisbursements(&p, &n.Transaction, n.RequestHash)
		unfollowed = unfollowed && n.Unfollowed
		p.ConfigVersions = append(p.ConfigVersions, n.ConfigVersion)
		p.UnknownStatuses = append(p.UnknownStatuses, n.unknown())
		p.Latencies = append(p.Latencies, latencies...)
		p.AfterMs = append(p.AfterMs, after...)
	}
	rows, err := l.bookTogether(at.Tenant, unfollowed).BookDisbursements(ctx, p)
	if err != nil {
		return nil, err
	}
	booked := make([]bool, len(all))
	for _, row := range rows {
		i := slices.Index(p.Ids, row.ID)
		booked[i] = true
		all[i].complete(sqlc.BookDisbursementRow(row))
	}
	return booked, nil
}

// bookTogether returns the queries that record several requests of a tenant in one statement.
func (l *Ledger) bookTogether(tenant int64, unfollowed bool) *sqlc.Queries {
	return sqlc.New(l.core.DB.VersionChecked(tenant).Unfollowed(unfollowed))
}
