package wire

import (
	"encoding/json"
	"strconv"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
)

// LoggedRequest is a request in the request log. It is exported, so that the schemas of structs that embed it have its
// fields.
type LoggedRequest struct {
	ID           string          `json:"id" doc:"Of the entry in this list." example:"log_01JCC5H2M4Q7ZXW3V8R6T9B0YE"`
	Time         string          `json:"time" format:"date-time" doc:"When the request arrived. ISO 8601, UTC; by the clock of the service, also in a sandbox with a clock of its own."`
	Method       string          `json:"method" example:"POST"`
	Path         string          `json:"path" doc:"Without what stands before /v1. {...} stands for a part that is no word, id or phone number." example:"/v1/payments"`
	Status       *int            `json:"status" doc:"HTTP status of the answer. null: the connection was closed without one."`
	Error        *string         `json:"error" doc:"The error's code; null for none." example:"invalid_body"`
	Hint         *string         `json:"hint" doc:"What to know about the request beside its error, as the header X-Cauri-Reason of the answer says it; null for nothing." example:"+225730000901 has 9 digits after +225, and a number of CI has 10"`
	RequestID    *string         `json:"requestId" doc:"X-Request-Id of the answer."`
	Fault        *string         `json:"fault" doc:"Name of the fault of spec.faults that acted; null for none."`
	Actor        string          `json:"actor,omitempty" doc:"Who made a change in the console: its session and its role. Left out for requests with the API key."`
	Effects      []string        `json:"effects,omitempty" doc:"What this fault does, in words, as the sandbox declares it now: busy: answered 503 Service Unavailable."`
	Query        json.RawMessage `json:"query" doc:"Parameters of the query; null for none."`
	RequestBody  json.RawMessage `json:"requestBody" doc:"Fields of the body as they were sent; of XML the elements without children; null for a body without fields, and for one that was not read."`
	ResponseBody json.RawMessage `json:"responseBody" doc:"Fields of the answer; null for none."`
	NotKept      []string        `json:"notKept" doc:"Fields and parameters of the request whose values are not kept, because this description does not name them, and what else of it is not kept."`
}

// LoggedRequestOf returns the view of a logged request. The parameter declared has the faults of the sandbox.
func LoggedRequestOf(e *requests.Entry, declared faults.Set) LoggedRequest {
	v := LoggedRequest{
		ID: "log_" + e.ID.Code(), Time: payments.FormatTime(e.ReceivedAt), Method: e.Method, Path: e.Path, Error: optional(e.Error),
		Hint: optional(e.Hint), RequestID: optional(e.RequestID), Fault: optional(e.Fault), Actor: e.Actor, Query: e.Query,
		RequestBody: e.RequestBody, ResponseBody: e.ResponseBody, NotKept: e.NotKept,
	}
	if e.Status != 0 {
		v.Status = &e.Status
	}
	if e.Fault != "" {
		v.Effects = declared.Effects([]string{e.Fault})
	}
	if v.NotKept == nil {
		v.NotKept = []string{}
	}
	return v
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// RequestList is the answer of GET /v1/requests.
type RequestList struct {
	Data           []LoggedRequest `json:"data" doc:"Newest first."`
	NextCursor     *string         `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore        bool            `json:"hasMore"`
	PreviousCursor *string         `json:"previousCursor" doc:"Send it as before to get the page before this one; null on the first one."`
}

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
var RequestParameters = Parameters[RequestQuery, RequestList]{
	"limit": func(q *RequestQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *RequestQuery, value string, tenant int64) string {
		return RequestCursors.place(&q.After, tenant, value)
	},
	"before": func(q *RequestQuery, value string, tenant int64) string {
		return RequestCursors.placeBefore(&q.Before, tenant, value)
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
