package apidoc

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// entryParameterDescriptions describes the parameters of the list of entries. [wire.EntryParameters] parses
// these parameters in a request.
var entryParameterDescriptions = map[string]*huma.Param{
	"limit": {Description: "Entries on a page.", Schema: &huma.Schema{
		Type: huma.TypeInteger, Format: "int32", Minimum: new(1.0), Maximum: new(float64(wire.MaxEntries)), Default: wire.MaxLimit,
	}},
	"cursor": {
		Description: "`nextCursor` of the previous page, unchanged, with the same account. In CSV, it is in the header `Link`.",
		Schema:      &huma.Schema{Type: huma.TypeString},
	},
	"before": beforeParameter(),
	"after": {
		Description: "Only entries after this number, for example to continue an earlier export. `cursor` and `before` replace it.",
		Schema:      &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(0.0), Maximum: new(float64(1 << 53)), Default: 0},
	},
	"currency": {
		Description: "Of the float in this currency. Without this and `msisdn`, it is the first float of `GET /v1/ledger`.",
		Schema:      oneOf(payments.Currencies...),
	},
	"msisdn": {
		Description: "Of the test client with this number. Write its `+` as `%2B`.", Schema: msisdnParameter.Schema,
	},
}

func refineLedgerEntry(fields map[string]*huma.Schema) {
	fields["type"].Enum = anyOf(proof.EntryTypes)
	fields["currency"].Enum = anyOf(payments.Currencies)
}

var ListEntries = Operation{
	ID: "listLedgerEntries", Method: http.MethodGet, Path: "/v1/ledger/entries", Tag: tagLedger, Summary: "List double entries",
	Description: "The movements of one account in the order of their numbers, as double entries with the balance after each: those of a float " +
		"with `currency`, those of a test client with `msisdn`, else those of the first float. Pages are stable while entries are added: new ones come at the end.\n\n" +
		"The books are those of the operators. A credit increases the balance of a float or of a test client, and a debit decreases it. " +
		"`commission` is what the operators keep, `outside` is numbers that have no SIM here, and `opening` and `adjustment` are the " +
		"configuration.\n\n" +
		"With the header `Accept: text/csv` the answer is a table (RFC 4180, UTF-8) with a header line and a line for each posting. The balance is " +
		"in the line of the account's own posting. Amounts are integers. A `reference` or `orderRef` that begins with `=`, `+`, `-`, `@`, `'`, a " +
		"tab or a line break has a `'` before it, so that no spreadsheet takes it for a formula. The header `Link` has the next page.",
	Parameters: describedParameters(decode.EntryParameters, entryParameterDescriptions, []string{"currency", "msisdn", "limit", "cursor", "before"}),
	answers:    []described{{http.StatusOK, "A page.", ledgerEntryListSchema, []string{"Link", "Vary"}}},
	csv:        string(proof.EntriesCSV(proof.Account{Currency: payments.RWF}, exampleEntries(), true)),
	errors:     []string{"invalid_params", "not_found"},
	Examples: []Example{{
		name: "float", Summary: "The first entries of a float", Status: http.StatusOK,
		Parameters: map[string]any{"currency": payments.RWF, "limit": 2}, Answer: exampleEntryList(),
	}},
}

// exampleEntries are the entries of the example.
func exampleEntries() []proof.Entry {
	paid := settledCollection()
	return []proof.Entry{
		{
			Number: 1, At: exampleTime.Add(-time.Minute), Type: proof.EntryOpening, Currency: payments.RWF, BalanceAfter: 1_000_000,
			Postings: []proof.Posting{{Account: "opening:RWF", Debit: 1_000_000}, {Account: "float:RWF", Credit: 1_000_000}},
		},
		{
			Number: 2, At: *paid.CompletedAt, Type: proof.EntryType(payments.Collection), Transaction: &paid.ID, Reference: paid.Reference,
			OrderRef: paid.OrderRef, Currency: payments.RWF, BalanceAfter: 1_000_000 + paid.NetAmount, Postings: []proof.Posting{
				{Account: "testClient:" + exampleMSISDN, Debit: paid.NetAmount + paid.Commission}, {Account: "float:RWF", Credit: paid.NetAmount},
				{Account: "commission:RWF", Credit: paid.Commission},
			},
		},
	}
}

func exampleEntryList() *wire.LedgerEntryList {
	list := &wire.LedgerEntryList{Account: "float:RWF", HasMore: true, NextCursor: new("AAAAAAAAAAIAAAAAAAAAAHsBqzEwLzR-")}
	for _, e := range exampleEntries() {
		list.Data = append(list.Data, view.LedgerEntryOf(&e))
	}
	return list
}
