package decode

import (
	"slices"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// EventQuery is the query of a list of events.
type EventQuery struct {
	Filter ledger.EventFilter
	After  *payments.EventID
	Before *payments.EventID
	Limit  int
}

// EventParameters has the parsers of the query's parameters.
var EventParameters = Parameters[EventQuery, wire.EventList]{
	"limit": func(q *EventQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *EventQuery, value string, tenant int64) string {
		return decodeEvent(&q.After, cursors.decode, tenant, value)
	},
	"before": func(q *EventQuery, value string, tenant int64) string {
		return decodeEvent(&q.Before, cursors.decodeBefore, tenant, value)
	},
	"event": func(q *EventQuery, value string, _ int64) string {
		i := slices.Index(wire.EventNames, value)
		switch {
		case i < 0:
			return "must be one of " + join(wire.EventNames)
		case value == payments.CallbackEvent:
			q.Filter.Callback = new(true)
		default:
			q.Filter.Type = payments.Types[i]
		}
		return ""
	},
	"state": func(q *EventQuery, value string, _ int64) string {
		q.Filter.State = ledger.EventState(value)
		if !slices.Contains(ledger.EventStates, q.Filter.State) {
			return "must be one of " + join(ledger.EventStates)
		}
		return ""
	},
	"tx_id": func(q *EventQuery, value string, _ int64) string {
		id, err := payments.ParseID(value)
		if err != nil {
			return "must be a transaction's id, TX_ with 26 characters behind it"
		}
		q.Filter.Transaction = &id
		return ""
	},
	"created_after":  func(q *EventQuery, value string, _ int64) string { return moment(&q.Filter.CreatedAfter, value) },
	"created_before": func(q *EventQuery, value string, _ int64) string { return moment(&q.Filter.CreatedBefore, value) },
}
