package proof

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// AccountProof is a balance with the sums of the movements that led to it, and with the result of its verification. A
// sum that lowered the balance is negative.
type AccountProof struct {
	Account
	Opening, Adjustments, Collections, Refunds, Disbursements int64
	Balance                                                   int64
	Movements                                                 int64 // the number of the last movement
	VerifiedUpTo                                              int64
	VerifiedAt                                                *time.Time // nil: it is not verified yet
	Imbalance                                                 *Imbalance // nil: it is balanced
}

// ListAccounts returns up to limit floats and SIMs of a tenant as they were at one moment: first the floats by
// currency, then the SIMs by number. The list begins after the given account; the zero value means the beginning. The
// result balanced reports whether all accounts of the tenant are balanced.
func (b *Books) ListAccounts(
	ctx context.Context, tenant int64, after Account, limit int,
) (proofs []AccountProof, balanced bool, err error) {
	currency := string(after.Currency)
	if after.MSISDN != "" {
		currency = lastCurrency
	}
	var rows []sqlc.ListLedgerAccountsRow
	err = b.db.List(ctx, tenant, func(ctx context.Context, scope postgres.DBTX) (err error) {
		rows, err = sqlc.New(scope).ListLedgerAccounts(ctx, tenant, int32(limit), currency, after.MSISDN)
		return err
	})
	if err != nil {
		return nil, false, postgres.Classify(err, "listing the accounts of the ledger")
	}
	proofs, balanced = make([]AccountProof, len(rows)), true
	for i := range rows {
		proofs[i] = accountProofOf(&rows[i])
		balanced = balanced && proofs[i].Imbalance == nil && rows[i].Broken == 0
	}
	return proofs, balanced, nil
}

// FindAccount returns the proof of a float or a SIM. It returns [ledger.ErrNotFound] if there is no such account.
func (b *Books) FindAccount(ctx context.Context, tenant int64, of Account) (*AccountProof, error) {
	after := Account{}
	if of.MSISDN != "" {
		var err error
		if after.MSISDN, err = b.tenant(tenant).SIMBefore(ctx, tenant, of.MSISDN); err != nil {
			return nil, postgres.Classify(err, "looking up an account of the ledger")
		}
		after.Currency = lastCurrency
	}
	found, _, err := b.ListAccounts(ctx, tenant, after, len(payments.Currencies))
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i].MSISDN == of.MSISDN && (of.MSISDN != "" || found[i].Currency == of.Currency) {
			return &found[i], nil
		}
	}
	return nil, ledger.ErrNotFound
}

// lastCurrency sorts after every currency.
const lastCurrency = "~"

// accountProofOf returns the proof of an account from a row of the database. No worker has verified the newest
// movements yet, so accountProofOf checks that they lead to the balance.
func accountProofOf(row *sqlc.ListLedgerAccountsRow) AccountProof {
	p := AccountProof{
		Account: Account{Currency: payments.Currency(row.Currency), MSISDN: row.MSISDN},
		Opening: row.Opening, Adjustments: row.Adjustments, Collections: row.Collections, Refunds: row.Refunds, Disbursements: row.Disbursements,
		Balance: row.Balance, Movements: row.Movements,
		VerifiedUpTo: row.VerifiedUpTo, VerifiedAt: row.VerifiedAt,
	}
	difference := p.Balance - p.Opening - p.Adjustments - p.Collections - p.Refunds - p.Disbursements
	switch {
	case row.BrokenAfter != nil:
		p.Imbalance = &Imbalance{Amount: row.Imbalance, After: *row.BrokenAfter, Before: orNone(row.BrokenBefore)}
	case difference != 0:
		p.Imbalance = &Imbalance{Amount: difference, After: row.VerifiedUpTo}
	}
	return p
}
