package decode

import (
	"net/http"
	"slices"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// PaymentQuery is the query of a list of transactions.
type PaymentQuery struct {
	Filter lists.Filter
	After  *payments.ID
	Before *payments.ID
	Limit  int
	Known  *payments.Known // what the sandbox knows
}

// ParsePaymentQuery parses the query of a list of transactions, as [Parameters.Read] does. Its error has the type
// [*wire.Error], and names every invalid parameter.
func ParsePaymentQuery(header http.Header, raw string, sandbox *sandboxes.Sandbox) (PaymentQuery, error) {
	q := PaymentQuery{Limit: wire.DefaultLimit, Known: sandbox.Known}
	values, wrong := PaymentParameters.Read(header, raw, sandbox.Tenant, &q)
	if values.Has("order") && values.Has("order_ref") && values.Get("order") != values.Get("order_ref") {
		wrong["order"] = append(wrong["order"], "differs from order_ref, which means the same: send one of them")
	}
	if len(wrong) > 0 {
		return PaymentQuery{}, view.InvalidParams(wrong)
	}
	return q, nil
}

// PaymentParameters has the parsers of the query's parameters.
var PaymentParameters = Parameters[PaymentQuery, wire.PaymentList]{
	"limit": func(q *PaymentQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *PaymentQuery, value string, tenant int64) string {
		return PaymentCursors.decode(&q.After, tenant, value)
	},
	"before": func(q *PaymentQuery, value string, tenant int64) string {
		return PaymentCursors.decodeBefore(&q.Before, tenant, value)
	},
	"country": func(q *PaymentQuery, value string, _ int64) string { return country(q.Known, &q.Filter.Country, value) },
	"operator": func(q *PaymentQuery, value string, _ int64) string {
		return operator(q.Known, &q.Filter.Operator, value)
	},
	"status": func(q *PaymentQuery, value string, _ int64) string {
		q.Filter.Status = payments.Status(value)
		if !slices.Contains(payments.Statuses, q.Filter.Status) {
			return "must be one of " + join(payments.Statuses)
		}
		return ""
	},
	"type": func(q *PaymentQuery, value string, _ int64) string {
		q.Filter.Type = payments.Type(value)
		if !slices.Contains(payments.Types, q.Filter.Type) {
			return "must be one of " + join(payments.Types)
		}
		return ""
	},
	"order_ref":   func(q *PaymentQuery, value string, _ int64) string { return text(&q.Filter.OrderRef, value, 120) },
	"order":       func(q *PaymentQuery, value string, _ int64) string { return text(&q.Filter.OrderRef, value, 120) },
	"application": func(q *PaymentQuery, value string, _ int64) string { return text(&q.Filter.Store, value, 80) },
	"reference":   func(q *PaymentQuery, value string, _ int64) string { return text(&q.Filter.Reference, value, 80) },
	"msisdn": func(q *PaymentQuery, value string, _ int64) string {
		q.Filter.MSISDN = value
		if !payments.ValidMSISDN(value) {
			return "must be an E.164 number with its leading +, written as %2B in a URL"
		}
		return ""
	},
	"created_after":  func(q *PaymentQuery, value string, _ int64) string { return moment(&q.Filter.CreatedAfter, value) },
	"created_before": func(q *PaymentQuery, value string, _ int64) string { return moment(&q.Filter.CreatedBefore, value) },
}
