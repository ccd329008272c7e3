package view

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// LedgerEntryOf returns the view of an entry.
func LedgerEntryOf(e *proof.Entry) wire.LedgerEntry {
	v := wire.LedgerEntry{
		Number: e.Number, Time: payments.FormatTime(e.At), Type: string(e.Type), Reference: optional(e.Reference), OrderRef: optional(e.OrderRef),
		Currency: string(e.Currency), Postings: make([]wire.Posting, 0, len(e.Postings)), Balance: e.BalanceAfter,
	}
	if e.Transaction != nil {
		v.TxID = new(e.Transaction.String())
	}
	for _, p := range e.Postings {
		v.Postings = append(v.Postings, wire.Posting(p))
	}
	return v
}
