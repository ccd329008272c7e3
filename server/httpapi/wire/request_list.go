package wire

import (
	"encoding/json"
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

// RequestList is the answer of GET /v1/requests.
type RequestList struct {
	Data           []LoggedRequest `json:"data" doc:"Newest first."`
	NextCursor     *string         `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore        bool            `json:"hasMore"`
	PreviousCursor *string         `json:"previousCursor" doc:"Send it as before to get the page before this one; null on the first one."`
}
