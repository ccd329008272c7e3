package ledger

import (
	"context"
	"slices"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// The statements for requests that wait for the same float: see [postgres.Coalescer].

// bookCollections books several collections of a float in one statement. booked[i] reports whether all[i] was booked.
func (l *Ledger) bookCollections(ctx context.Context, at postgres.QueueKey, all []*NewCollection) ([]bool, error) {
	p := sqlc.BookCollectionsParams{Tenant: at.Tenant, FloatCurrency: at.Name}
	unfollowed := true
	for _, n := range all {
		t := &n.Transaction
		url, description := ledgerdb.OrEmpty(t.OrderURL), ledgerdb.OrEmpty(t.Description)
		unfollowed = unfollowed && n.Unfollowed
		p.Ids = append(p.Ids, postgres.UUID(t.ID))
		p.ConfigVersions = append(p.ConfigVersions, n.ConfigVersion)
		p.Refs = append(p.Refs, t.Reference)
		p.RequestHashes = append(p.RequestHashes, n.RequestHash)
		p.OrderRefs = append(p.OrderRefs, t.OrderRef)
		p.OrderUrls = append(p.OrderUrls, url)
		p.UrlsProtected = append(p.UrlsProtected, t.URLProtected)
		p.Stores = append(p.Stores, t.Store)
		p.Described = append(p.Described, t.Description != nil)
		p.Descriptions = append(p.Descriptions, description)
		p.Scenarios = append(p.Scenarios, string(t.Scenario))
		p.EnvIds = append(p.EnvIds, t.EnvironmentID)
		p.Operators = append(p.Operators, string(t.Operator))
		p.Countries = append(p.Countries, string(t.Country))
		p.Currencies = append(p.Currencies, t.Currency)
		p.Msisdns = append(p.Msisdns, t.MSISDN)
		p.Amounts = append(p.Amounts, t.Amount)
		p.Commissions = append(p.Commissions, t.Commission)
		p.NetAmounts = append(p.NetAmounts, t.NetAmount)
		p.AbsorptionPcts = append(p.AbsorptionPcts, int32(t.AbsorptionPct))
		p.Latencies = append(p.Latencies, int32(t.Latency.Milliseconds()))
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
		t := &n.Transaction
		latencies, after := n.Latency.all()
		url, description := ledgerdb.OrEmpty(t.OrderURL), ledgerdb.OrEmpty(t.Description)
		unfollowed = unfollowed && n.Unfollowed
		p.Ids = append(p.Ids, postgres.UUID(t.ID))
		p.ConfigVersions = append(p.ConfigVersions, n.ConfigVersion)
		p.Refs = append(p.Refs, t.Reference)
		p.RequestHashes = append(p.RequestHashes, n.RequestHash)
		p.OrderRefs = append(p.OrderRefs, t.OrderRef)
		p.OrderUrls = append(p.OrderUrls, url)
		p.UrlsProtected = append(p.UrlsProtected, t.URLProtected)
		p.Stores = append(p.Stores, t.Store)
		p.Described = append(p.Described, t.Description != nil)
		p.Descriptions = append(p.Descriptions, description)
		p.EnvIds = append(p.EnvIds, t.EnvironmentID)
		p.Operators = append(p.Operators, string(t.Operator))
		p.Countries = append(p.Countries, string(t.Country))
		p.Currencies = append(p.Currencies, t.Currency)
		p.Msisdns = append(p.Msisdns, t.MSISDN)
		p.Amounts = append(p.Amounts, t.Amount)
		p.AbsorptionPcts = append(p.AbsorptionPcts, int32(t.AbsorptionPct))
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
