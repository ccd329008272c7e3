// Package ledgercsv writes double entries as a table in CSV (RFC 4180), with a line for each posting. The API, the console
// and the command line write the same table.
package ledgercsv

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Columns are the names of the columns.
var Columns = []string{
	"account", "number", "time", "type", "txId", "reference", "orderRef", "currency", "posting", "debit", "credit", "balance",
}

// Entry is a double entry of an account, as the API writes it. A text is empty if the entry has none.
type Entry struct {
	Number                                          int64
	Time, Type, TxID, Reference, OrderRef, Currency string
	Postings                                        []Posting
	Balance                                         int64 // of the account, after the entry
}

// Posting is one side of a double entry.
type Posting struct {
	Account       string
	Debit, Credit int64
}

// AppendHeader appends the header line to b.
func AppendHeader(b []byte) []byte { return appendRecord(b, Columns) }

// AppendEntry appends the lines of an entry of an account to b. Only the line of the account's own posting has the balance.
func AppendEntry(b []byte, account string, e *Entry) []byte {
	for _, p := range e.Postings {
		balance := ""
		if p.Account == account {
			balance = strconv.FormatInt(e.Balance, 10)
		}
		b = appendRecord(b, []string{
			account, strconv.FormatInt(e.Number, 10), e.Time, e.Type, e.TxID, cell(e.Reference), cell(e.OrderRef),
			e.Currency, p.Account, strconv.FormatInt(p.Debit, 10), strconv.FormatInt(p.Credit, 10), balance,
		})
	}
	return b
}

// appendRecord appends a line to b. Unlike encoding/csv with CRLF lines, it does not change line breaks within fields.
func appendRecord(b []byte, fields []string) []byte {
	for i, field := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		if strings.ContainsAny(field, "\",;\t\r\n") {
			field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
		}
		b = append(b, field...)
	}
	return append(b, "\r\n"...)
}

// cell prevents CSV injection: it puts an apostrophe before a text that a spreadsheet would take for a formula. Where a
// cell may begin within the text, it does so too: many spreadsheets separate cells by semicolons or tabs, and a quotation
// mark that does not begin a cell holds nothing together there. It also puts an apostrophe before one that stands in such a
// place, so that a program can restore every text by removing one apostrophe from each.
func cell(text string) string {
	var safe strings.Builder
	begins := true
	for i, r := range text {
		if begins && strings.ContainsRune("=+-@\t\r\n'＝＋－＠", r) {
			safe.WriteByte('\'')
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		safe.WriteString(text[i : i+size])
		begins = strings.ContainsRune(";\t\r\n", r)
	}
	return safe.String()
}
