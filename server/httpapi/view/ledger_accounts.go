package view

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// LedgerAccountOf returns the view of an account's proof.
func LedgerAccountOf(p *proof.AccountProof) wire.LedgerAccount {
	v := wire.LedgerAccount{
		Account: p.Account.String(), Kind: p.Kind(), Currency: string(p.Currency), MSISDN: optional(p.MSISDN),
		Opening: p.Opening, Adjustments: p.Adjustments, Collections: p.Collections, Refunds: p.Refunds, Disbursements: p.Disbursements,
		Balance: p.Balance, Movements: p.Movements, Balanced: p.Imbalance == nil, VerifiedUpTo: p.VerifiedUpTo,
	}
	if p.VerifiedAt != nil {
		v.VerifiedAt = new(payments.FormatTime(*p.VerifiedAt))
	}
	if i := p.Imbalance; i != nil {
		v.Imbalance = &wire.LedgerImbalance{Difference: i.Amount, After: i.After}
		if i.Before > 0 {
			v.Imbalance.Before = &i.Before
		}
	}
	return v
}
