package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// window returns rows of a list that is known as a whole. A cursor is the key of the last row before them. It returns
// fewer rows than the limit if they would make the output too large.
func window[T any](all []T, cursor string, limit int, key func(*T) string) (rows []T, next *string, err error) {
	begin := 0
	if cursor != "" {
		i := slices.IndexFunc(all, func(row T) bool { return key(&row) == cursor })
		if i < 0 {
			return nil, nil, invalid(fieldErrors{"cursor": {"is none of this list: leave it out to begin again"}})
		}
		begin = i + 1
	}
	rows = []T{}
	for i, size := begin, 0; i < len(all) && len(rows) < cmp.Or(limit, wire.DefaultLimit); i++ {
		if size += len(raw(all[i])) + 1; size > maxRows {
			break
		}
		rows = append(rows, all[i])
	}
	if end := begin + len(rows); end < len(all) && len(rows) > 0 {
		last := key(&rows[len(rows)-1])
		next = &last
	}
	return rows, next, nil
}

// maxRows is the maximum size of the rows of a list, in bytes of JSON. The rest of an output is for its other fields.
const maxRows = maxOutput - 4<<10

// paged reads a page of a list of the API, and converts its rows. Where the rows would make the output too large, it asks
// for fewer, so that the cursor still fits.
func paged[Row any, List any](
	ctx context.Context, c *call, path string, query url.Values, limit int, rowsOf func(*List) ([]Row, *string),
) ([]Row, *string, error) {
	for limit = cmp.Or(limit, wire.DefaultLimit); ; limit = max(1, limit/2) {
		query.Set("limit", strconv.Itoa(limit))
		list := new(List)
		if err := c.sandbox.API.Page(ctx, path, query, list); err != nil {
			return nil, nil, err
		}
		rows, next := rowsOf(list)
		if text, err := json.Marshal(rows); err != nil || len(text) <= maxRows || limit == 1 {
			return rows, next, err
		}
	}
}

// queryOf returns a query with the parameters that are not empty.
func queryOf(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

type listTransactionsInput struct {
	Type      string `json:"type,omitempty" enum:"collection,refund,disbursement" doc:"A collection is a payment of a customer."`
	Status    string `json:"status,omitempty" enum:"$statuses"`
	MSISDN    string `json:"msisdn,omitempty" doc:"Number of the customer."`
	OrderRef  string `json:"order_ref,omitempty" doc:"The shop's order."`
	Reference string `json:"reference,omitempty" doc:"The shop's reference of one transaction."`
	Since     string `json:"since,omitempty" example:"2026-05-31T12:00:00Z" doc:"Created at or after this time, in sandbox time (RFC 3339)."`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"Rows; 20 if left out."`
	Cursor    string `json:"cursor,omitempty" doc:"nextCursor of the page before."`
}

type listTransactionsOutput struct {
	head
	Transactions []*transaction `json:"transactions"`
	NextCursor   *string        `json:"nextCursor,omitempty"`
}

var listTransactions = define(tool{
	name: "list_transactions", title: "List transactions", reads: true,
	description: "Payments (collections), refunds and payouts (disbursements), newest first.",
}, func(ctx context.Context, c *call, in *listTransactionsInput) (*listTransactionsOutput, error) {
	query := queryOf("type", in.Type, "status", in.Status, "msisdn", in.MSISDN, "order_ref", in.OrderRef, "reference", in.Reference,
		"created_after", in.Since, "cursor", in.Cursor)
	out, filtered := &listTransactionsOutput{}, len(query) > 0
	var err error
	out.Transactions, out.NextCursor, err = paged(ctx, c, "/payments", query, in.Limit, func(l *wire.PaymentList) ([]*transaction, *string) {
		rows := []*transaction{}
		for i := range l.Data {
			rows = append(rows, transactionOf(&l.Data[i]))
		}
		return rows, l.NextCursor
	})
	if err != nil {
		return nil, err
	}
	switch {
	case len(out.Transactions) > 0:
		out.say("%s%s.", english.Plural(len(out.Transactions), "transaction", "transactions"), more(out.NextCursor))
		out.add(step{Tool: "explain", Arguments: arguments("id", out.Transactions[0].ID), Because: "tells what happened to the newest"})
	case filtered:
		out.say("No transaction fits.")
		out.add(step{Tool: "list_requests", Because: "lists requests that were refused, and so recorded nothing"})
		out.add(step{Tool: "list_transactions", Because: "lists all transactions"})
	default:
		out.say("There are no transactions.")
		out.add(step{Tool: "list_requests", Because: "lists requests that were refused, and so recorded nothing"})
		out.add(step{Tool: "make_payment", Arguments: arguments("amount", 1500), Because: "makes a payment"})
	}
	return out, nil
})

// more returns the end of a sentence about rows of which there may be more.
func more(next *string) string {
	if next == nil {
		return ""
	}
	return ", and there are more"
}
