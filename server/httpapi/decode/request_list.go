package decode

import (
	"strconv"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
)

// RequestCursors encodes and decodes the cursors of the list of requests.
const RequestCursors cursors = "requests"

// RequestQuery is the query of a list of requests.
type RequestQuery struct {
	Filter requests.Filter
	After  *payments.ID
	Before *payments.ID
	Limit  int
}

// RequestParameters has the parsers of the query's parameters.
var RequestParameters = Parameters[RequestQuery, wire.RequestList]{
	"limit": func(q *RequestQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *RequestQuery, value string, tenant int64) string {
		return RequestCursors.decode(&q.After, tenant, value)
	},
	"before": func(q *RequestQuery, value string, tenant int64) string {
		return RequestCursors.decodeBefore(&q.Before, tenant, value)
	},
	"all": func(q *RequestQuery, value string, _ int64) string {
		if value != "true" && value != "false" {
			return "must be true or false"
		}
		q.Filter.Succeeded = value == "true"
		return ""
	},
	"status": func(q *RequestQuery, value string, _ int64) string {
		status, err := strconv.Atoi(value)
		if err != nil || status < 100 || status > 599 || strconv.Itoa(status) != value {
			return "must be an HTTP status, for example 404"
		}
		q.Filter.Status = status
		return ""
	},
	"error": func(q *RequestQuery, value string, _ int64) string { return text(&q.Filter.Error, value, 80) },
	"path": func(q *RequestQuery, value string, _ int64) string {
		if problem := text(&q.Filter.Path, value, 200); problem != "" {
			return problem
		}
		if value[0] != '/' {
			return "must begin with /, for example /v1/payments"
		}
		return ""
	},
}
