package decode

import (
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	TestClientCursors cursors = "test_clients"
	PromptCursors     cursors = "prompts"
)

// NumberCursor copies a phone number, by which the list is ordered, into the type that cursors encode. A number has at most
// 16 characters, and an id has 16 bytes.
func NumberCursor(msisdn string) (place payments.ID) {
	copy(place[:], msisdn)
	return place
}

// MSISDNAt returns the number at a position; "" for nil.
func MSISDNAt(place *payments.ID) string {
	if place == nil {
		return ""
	}
	return strings.TrimRight(string(place[:]), "\x00")
}

// TestClientQuery is the query of a list of test clients.
type TestClientQuery struct {
	Filter ledger.TestClientFilter
	After  *payments.ID
	Limit  int
	Known  *payments.Known // what the sandbox knows
}

// TestClientParameters has the parsers of the query's parameters.
var TestClientParameters = Parameters[TestClientQuery, wire.TestClientList]{
	"limit": func(q *TestClientQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *TestClientQuery, value string, tenant int64) string {
		return TestClientCursors.decode(&q.After, tenant, value)
	},
	"country": func(q *TestClientQuery, value string, _ int64) string {
		return country(q.Known, &q.Filter.Country, value)
	},
	"operator": func(q *TestClientQuery, value string, _ int64) string {
		return operator(q.Known, &q.Filter.Operator, value)
	},
	"state": func(q *TestClientQuery, value string, _ int64) string {
		q.Filter.Blocked = new(value == wire.StateBlocked)
		if !slices.Contains([]string{wire.StateActive, wire.StateBlocked}, value) {
			return "must be one of Active, Blocked"
		}
		return ""
	},
}
