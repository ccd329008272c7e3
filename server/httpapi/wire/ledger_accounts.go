package wire

import (
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// LedgerAccount is the proof of one balance. It is exported, so that the schemas of structs that embed it have its
// fields.
type LedgerAccount struct {
	Account       string           `json:"account" doc:"Its name in double entries: float:RWF or testClient:+250788123456." example:"float:RWF"`
	Kind          string           `json:"kind" doc:"float: the merchant's balance in a currency. testClient: the balance of a SIM."`
	Currency      string           `json:"currency"`
	MSISDN        *string          `json:"msisdn" doc:"Number of the test client; null for a float."`
	Opening       int64            `json:"opening" doc:"The balance that the account began with."`
	Adjustments   int64            `json:"adjustments" doc:"By how much the configuration changed the balance since then."`
	Collections   int64            `json:"collections" doc:"By how much collections changed the balance: up for a float, which gets their netAmount, and down for a test client."`
	Refunds       int64            `json:"refunds" doc:"By how much refunds changed the balance: down for a float, up for a test client."`
	Disbursements int64            `json:"disbursements" doc:"By how much disbursements changed the balance: down for a float, up for a test client."`
	Balance       int64            `json:"balance" doc:"The sum of opening, adjustments, collections, refunds and disbursements, if the account is balanced."`
	Movements     int64            `json:"movements" doc:"Number of the last movement. Movements have the numbers 1, 2, 3 and so on."`
	Balanced      bool             `json:"balanced" doc:"false: see imbalance."`
	VerifiedUpTo  int64            `json:"verifiedUpTo" doc:"Number of the last movement that a worker verified: none is missing up to it, and each balance is the one before, changed by the movement."`
	VerifiedAt    *string          `json:"verifiedAt" format:"date-time" doc:"When a worker last verified the account. ISO 8601, UTC; null before the first time."`
	Imbalance     *LedgerImbalance `json:"imbalance" doc:"What is wrong; null for nothing."`
}

// LedgerImbalance locates the first difference between an account's balance and the sum of its movements.
type LedgerImbalance struct {
	Difference int64  `json:"difference" doc:"By how much the balance is above the sum of its movements; negative: below."`
	After      int64  `json:"after" doc:"Number of the last movement that is right; 0 for none."`
	Before     *int64 `json:"before" doc:"Number of the movement before which the difference is; null: it is after the last verified one, or in the balance itself."`
}

// LedgerAccountOf returns the view of an account's proof.
func LedgerAccountOf(p *proof.AccountProof) LedgerAccount {
	v := LedgerAccount{
		Account: p.Account.String(), Kind: p.Kind(), Currency: string(p.Currency), MSISDN: optional(p.MSISDN),
		Opening: p.Opening, Adjustments: p.Adjustments, Collections: p.Collections, Refunds: p.Refunds, Disbursements: p.Disbursements,
		Balance: p.Balance, Movements: p.Movements, Balanced: p.Imbalance == nil, VerifiedUpTo: p.VerifiedUpTo,
	}
	if p.VerifiedAt != nil {
		v.VerifiedAt = new(payments.FormatTime(*p.VerifiedAt))
	}
	if i := p.Imbalance; i != nil {
		v.Imbalance = &LedgerImbalance{Difference: i.Amount, After: i.After}
		if i.Before > 0 {
			v.Imbalance.Before = &i.Before
		}
	}
	return v
}

// LedgerAccountList is the answer of GET /v1/ledger.
type LedgerAccountList struct {
	Balanced   bool            `json:"balanced" doc:"Whether all accounts of the sandbox are balanced, those of the other pages too."`
	Data       []LedgerAccount `json:"data" doc:"The floats by currency, then the test clients by number. All are as they were at one moment."`
	NextCursor *string         `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool            `json:"hasMore"`
}

// LedgerCursors encodes and decodes the cursors of the list of accounts.
const LedgerCursors cursors = "ledger"

// AccountCursor returns an account's position in the list, in the type that cursors encode.
func AccountCursor(a proof.Account) payments.ID {
	if a.MSISDN != "" {
		return NumberCursor(a.MSISDN)
	}
	return NumberCursor(string(a.Currency))
}

// LedgerQuery is the query of the list of accounts.
type LedgerQuery struct {
	Verify bool // whether the answer waits for a verification from the first movement
	After  *payments.ID
	Limit  int
}

// Account returns the last account before the page.
func (q *LedgerQuery) Account() proof.Account {
	text := MSISDNAt(q.After)
	if payments.ValidMSISDN(text) {
		return proof.Account{MSISDN: text}
	}
	return proof.Account{Currency: payments.Currency(text)}
}

// VerifyFull is the value of the parameter that requests a verification from the first movement.
const VerifyFull = "full"

// LedgerParameters has the parsers of the query's parameters.
var LedgerParameters = Parameters[LedgerQuery, LedgerAccountList]{
	"limit": func(q *LedgerQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *LedgerQuery, value string, tenant int64) string {
		return LedgerCursors.place(&q.After, tenant, value)
	},
	"verify": func(q *LedgerQuery, value string, _ int64) string {
		q.Verify = value == VerifyFull
		if !q.Verify {
			return "must be " + VerifyFull
		}
		return ""
	},
}
