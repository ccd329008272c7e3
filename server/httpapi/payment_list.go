package httpapi

import (
	"slices"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// listView is the answer of GET /v1/payments.
type listView struct {
	Data       []paymentView `json:"data" doc:"Newest first."`
	NextCursor *string       `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool          `json:"hasMore"`
}

// listQuery is what a list is asked for.
type listQuery struct {
	filter store.Filter
	after  *payments.ID
	limit  int
}

// parseListQuery reads the query of a list; its error, of type [*Error], names every parameter that is wrong.
func parseListQuery(raw string, tenant int64) (listQuery, error) {
	q := listQuery{limit: defaultLimit}
	values, wrong := listParameters.read(raw, tenant, &q)
	if values.Has("order") && values.Has("order_ref") && values.Get("order") != values.Get("order_ref") {
		wrong["order"] = append(wrong["order"], "differs from order_ref, which means the same: send one of them")
	}
	if len(wrong) > 0 {
		return listQuery{}, invalidParams(wrong)
	}
	return q, nil
}

// listParameters reads each parameter into a query and returns what is wrong with it.
var listParameters = parameters[listQuery]{
	"limit": func(q *listQuery, value string, _ int64) string { return limit(&q.limit, value) },
	"cursor": func(q *listQuery, value string, tenant int64) string {
		return paymentCursors.place(&q.after, tenant, value)
	},
	"country": func(q *listQuery, value string, _ int64) string {
		q.filter.Country = payments.Country(value)
		if _, known := q.filter.Country.Currency(); !known {
			return "has to be one of CI, RW, BJ, TG"
		}
		return ""
	},
	"operator": func(q *listQuery, value string, _ int64) string {
		q.filter.Operator = payments.Operator(value)
		if !q.filter.Operator.Valid() {
			return "has to be one of mtn, orange, moov, airtel"
		}
		return ""
	},
	"status": func(q *listQuery, value string, _ int64) string {
		q.filter.Status = payments.Status(value)
		if !slices.Contains(payments.Statuses, q.filter.Status) {
			return "has to be one of " + join(payments.Statuses)
		}
		return ""
	},
	"type": func(q *listQuery, value string, _ int64) string {
		q.filter.Type = payments.Type(value)
		if !slices.Contains(payments.Types, q.filter.Type) {
			return "has to be one of " + join(payments.Types)
		}
		return ""
	},
	"order_ref":   func(q *listQuery, value string, _ int64) string { return text(&q.filter.OrderRef, value, 120) },
	"order":       func(q *listQuery, value string, _ int64) string { return text(&q.filter.OrderRef, value, 120) },
	"application": func(q *listQuery, value string, _ int64) string { return text(&q.filter.Store, value, 80) },
	"reference":   func(q *listQuery, value string, _ int64) string { return text(&q.filter.Reference, value, 80) },
	"msisdn": func(q *listQuery, value string, _ int64) string {
		q.filter.MSISDN = value
		if !payments.ValidMSISDN(value) {
			return "has to be an E.164 number with its leading +, written as %2B in a URL"
		}
		return ""
	},
	"created_after":  func(q *listQuery, value string, _ int64) string { return moment(&q.filter.CreatedAfter, value) },
	"created_before": func(q *listQuery, value string, _ int64) string { return moment(&q.filter.CreatedBefore, value) },
}
