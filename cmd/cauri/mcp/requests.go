package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// requestRow is a request of the log, with the names of the API.
type requestRow struct {
	ID      string   `json:"id"`
	Time    string   `json:"time"`
	Method  string   `json:"method"`
	Path    string   `json:"path"`
	Status  *int     `json:"status,omitempty"` // absent: there was no answer
	Error   *string  `json:"error,omitempty"`
	Effects []string `json:"effects,omitempty"` // of faults
	Cause   string   `json:"cause,omitempty"`
	Wrong   []wrong  `json:"wrong,omitempty"`   // each wrong field
	Instead string   `json:"instead,omitempty"` // what to do
	Sent    *foreign `json:"sent,omitempty"`    // the body, as JSON
}

// wrong is a wrong field of a request.
type wrong struct {
	Field   string `json:"field"`
	Problem string `json:"problem"`
}

// requestOf returns the row of a request.
func requestOf(r *wire.LoggedRequest) requestRow {
	row := requestRow{ID: r.ID, Time: r.Time, Method: r.Method, Path: r.Path, Status: r.Status, Error: r.Error, Effects: r.Effects}
	if r.RequestBody != nil && string(r.RequestBody) != "null" {
		row.Sent = foreignOf(string(r.RequestBody))
	}
	if r.Status != nil && *r.Status < 400 && r.Fault == nil {
		return row
	}
	a := explain.OfRequest(r)
	row.Cause = string(a.Code)
	_, row.Instead = a.Sentences()
	var said struct {
		Detail struct {
			FieldErrors map[string][]string `json:"fieldErrors"`
		}
	}
	_ = json.Unmarshal(r.ResponseBody, &said) // stays empty for an answer of another form
	for _, field := range slices.Sorted(maps.Keys(said.Detail.FieldErrors)) {
		row.Wrong = append(row.Wrong, wrong{field, strings.Join(said.Detail.FieldErrors[field], "; ")})
	}
	return row
}

type listRequestsInput struct {
	All    *bool  `json:"all,omitempty" doc:"true: those that succeeded too, as far as the log keeps them."`
	Status *int64 `json:"status,omitempty" minimum:"100" maximum:"599" doc:"HTTP status of the answer."`
	Error  string `json:"error,omitempty" doc:"Code of the error, such as invalid_body."`
	Path   string `json:"path,omitempty" example:"/v1/payments" doc:"Also of operators' own APIs."`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"Rows; 20 if left out."`
	Cursor string `json:"cursor,omitempty" doc:"nextCursor of the page before."`
}

type listRequestsOutput struct {
	head
	Requests   []requestRow `json:"requests"`
	NextCursor *string      `json:"nextCursor,omitempty"`
}

var listRequests = define(tool{
	name: "list_requests", title: "List refused requests", reads: true,
	description: "Requests that the shop sent and that were refused, newest first, of the API and of operators' own APIs: what was sent, " +
		"each wrong field, and what to send instead.",
}, func(ctx context.Context, c *call, in *listRequestsInput) (*listRequestsOutput, error) {
	query := queryOf("error", in.Error, "path", in.Path, "cursor", in.Cursor)
	if in.All != nil && *in.All {
		query.Set("all", "true")
	}
	if in.Status != nil {
		query.Set("status", string(raw(*in.Status)))
	}
	out := &listRequestsOutput{}
	var err error
	out.Requests, out.NextCursor, err = paged(ctx, c, "/requests", query, in.Limit, func(l *wire.RequestList) ([]requestRow, *string) {
		rows := []requestRow{}
		for i := range l.Data {
			rows = append(rows, requestOf(&l.Data[i]))
		}
		return rows, l.NextCursor
	})
	if err != nil {
		return nil, err
	}
	out.conclude()
	return out, nil
})

// conclude points to the newest request that was refused.
func (o *listRequestsOutput) conclude() {
	for i := range o.Requests {
		r := &o.Requests[i]
		if r.Cause == "" {
			continue
		}
		o.Cause = r.Cause
		o.say("%s%s. The newest that was refused is %s.", english.Plural(len(o.Requests), "request", "requests"), more(o.NextCursor), r.ID)
		o.add(step{Tool: "explain", Arguments: arguments("id", r.ID), Because: "tells what was wrong with it, and what to send instead"})
		return
	}
	o.say("%s%s, and none was refused.", english.Plural(len(o.Requests), "request", "requests"), more(o.NextCursor))
	o.add(step{Tool: "list_transactions", Because: "lists what the accepted requests recorded"})
}
