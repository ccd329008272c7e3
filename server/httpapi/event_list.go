package httpapi

import (
	"slices"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// eventQuery is what a list of events is asked for.
type eventQuery struct {
	filter store.EventFilter
	after  *payments.ID
	limit  int
}

// eventParameters reads each parameter into a query and returns what is wrong with it.
var eventParameters = parameters[eventQuery]{
	"limit": func(q *eventQuery, value string, _ int64) string { return limit(&q.limit, value) },
	"cursor": func(q *eventQuery, value string, tenant int64) string {
		return eventCursors.place(&q.after, tenant, value)
	},
	"event": func(q *eventQuery, value string, _ int64) string {
		i := slices.Index(eventNames, value)
		if i < 0 {
			return "has to be one of " + join(eventNames)
		}
		q.filter.Type = payments.Types[i]
		return ""
	},
	"state": func(q *eventQuery, value string, _ int64) string {
		q.filter.State = store.EventState(value)
		if !slices.Contains(store.EventStates, q.filter.State) {
			return "has to be one of " + join(store.EventStates)
		}
		return ""
	},
	"tx_id": func(q *eventQuery, value string, _ int64) string {
		id, err := payments.ParseID(value)
		if err != nil {
			return "has to be a transaction's id, TX_ with 26 characters behind it"
		}
		q.filter.Transaction = &id
		return ""
	},
	"created_after":  func(q *eventQuery, value string, _ int64) string { return moment(&q.filter.CreatedAfter, value) },
	"created_before": func(q *eventQuery, value string, _ int64) string { return moment(&q.filter.CreatedBefore, value) },
}

// eventNames are the names of the events of [payments.Types], in their order.
var eventNames = func() []string {
	var names []string
	for _, t := range payments.Types {
		names = append(names, t.Event())
	}
	return names
}()
