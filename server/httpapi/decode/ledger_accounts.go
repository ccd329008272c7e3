package decode

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

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

// LedgerParameters has the parsers of the query's parameters.
var LedgerParameters = Parameters[LedgerQuery, wire.LedgerAccountList]{
	"limit": func(q *LedgerQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *LedgerQuery, value string, tenant int64) string {
		return LedgerCursors.decode(&q.After, tenant, value)
	},
	"verify": func(q *LedgerQuery, value string, _ int64) string {
		q.Verify = value == wire.VerifyFull
		if !q.Verify {
			return "must be " + wire.VerifyFull
		}
		return ""
	},
}
