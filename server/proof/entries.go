package proof

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// ListEntries returns an account, and up to limit of its entries with numbers above the parameter after, in ascending
// order. The zero value of the account means the first float. It returns [ledger.ErrNotFound] if there is no such
// account. New entries have higher numbers, so that pages stay the same while entries are added.
func (b *Books) ListEntries(
	ctx context.Context, tenant int64, of Account, after int64, limit int,
) (account Account, entries []Entry, err error) {
	err = b.db.List(ctx, tenant, func(ctx context.Context, scope postgres.DBTX) (err error) {
		q := sqlc.New(scope)
		if of.MSISDN != "" {
			account, entries, err = simEntries(ctx, q, tenant, of.MSISDN, after, limit)
		} else {
			account, entries, err = floatEntries(ctx, q, tenant, of.Currency, after, limit)
		}
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return account, nil, ledger.ErrNotFound
	}
	return account, entries, postgres.Classify(err, "listing the entries of the ledger")
}

func floatEntries(
	ctx context.Context, q *sqlc.Queries, tenant int64, currency payments.Currency, after int64, limit int,
) (Account, []Entry, error) {
	found, err := q.FirstFloat(ctx, tenant, string(currency))
	if err != nil {
		return Account{}, nil, err
	}
	account := Account{Currency: payments.Currency(found)}
	rows, err := q.ListFloatEntries(ctx, tenant, found, after, int32(limit))
	entries := make([]Entry, len(rows))
	for i := range rows {
		entries[i] = entryOf(&rows[i], account)
	}
	return account, entries, err
}

func simEntries(ctx context.Context, q *sqlc.Queries, tenant int64, msisdn string, after int64, limit int) (Account, []Entry, error) {
	sim, err := q.FindSIM(ctx, tenant, msisdn)
	if err != nil {
		return Account{}, nil, err
	}
	account := Account{Currency: payments.Currency(sim.Currency), MSISDN: msisdn}
	rows, err := q.ListSIMEntries(ctx, sqlc.ListSIMEntriesParams{
		Tenant: tenant, SimID: sim.SimID, MSISDN: msisdn, Currency: sim.Currency, After: after, Most: int32(limit),
	})
	entries := make([]Entry, len(rows))
	for i := range rows {
		entries[i] = entryOf((*sqlc.ListFloatEntriesRow)(&rows[i]), account)
	}
	return account, entries, err
}

// entryOf returns the entry in a row of an account.
func entryOf(r *sqlc.ListFloatEntriesRow, of Account) Entry {
	e := Entry{
		Number: r.Number, At: r.At, Type: EntryType(r.Kind), Reference: r.Reference, OrderRef: r.OrderRef,
		Currency: payments.Currency(r.Currency), BalanceAfter: r.BalanceAfter,
	}
	if !r.ID.Valid {
		e.Postings = adjusted(e.Type, of, r.MerchantDelta+r.SimDelta) // one of the two is 0
		return e
	}
	e.Transaction = new(payments.ID(r.ID.Bytes))
	e.Postings = (&transfer{payments.Type(r.Kind), e.Currency, r.MerchantDelta, r.SimDelta, r.Commission, r.MSISDN}).postings()
	return e
}
