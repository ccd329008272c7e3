package proof

import (
	"github.com/cauri-dev/cauri/server/ledgercsv"
	"github.com/cauri-dev/cauri/server/payments"
)

// EntriesCSV returns the lines of an account's entries in CSV, after the header line if header is true.
func EntriesCSV(of Account, entries []Entry, header bool) (lines []byte) {
	if header {
		lines = ledgercsv.AppendHeader(nil)
	}
	account := of.String()
	for i := range entries {
		e := &entries[i]
		line := ledgercsv.Entry{
			Number: e.Number, Time: payments.FormatTime(e.At), Type: string(e.Type), Reference: e.Reference, OrderRef: e.OrderRef,
			Currency: string(e.Currency), Balance: e.BalanceAfter,
		}
		if e.Transaction != nil {
			line.TxID = e.Transaction.String()
		}
		for _, p := range e.Postings {
			line.Postings = append(line.Postings, ledgercsv.Posting(p))
		}
		lines = ledgercsv.AppendEntry(lines, account, &line)
	}
	return lines
}
