package httpapi

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cauri-dev/cauri/server/httpapi/wire"

	"github.com/danielgtaylor/huma/v2"
)

// operation is what the API's description says of one route.
type operation struct {
	id, method, path string
	tag, summary     string
	description      string // paragraphs of plain text, with `code` in backticks
	open             bool   // needs no key
	parameters       []*huma.Param
	body             *wire.RequestSchema // nil: there is none
	bodyOptional     bool
	answers          []described
	errors           []string // codes, beside those of every route of its kind
	examples         []example
}

// described is a status that a route answers with when nothing is wrong.
type described struct {
	status  int
	when    string
	schema  *huma.Schema // nil: an answer without a body
	headers []string     // beside those that are on every answer
}

// example is a request with its answer. The tests make every one of them.
type example struct {
	name, summary string
	parameters    map[string]any
	body          string // as it is sent, empty for none
	status        int
	answer        any
}

// operations are all operations of the API, in the order in which the page shows them.
var operations = []operation{
	createPaymentOperation, getPaymentOperation, listPaymentsOperation, createRefundOperation, createDisbursementOperation,
	listEventsOperation, getEventOperation, resendEventOperation,
	listTestClientsOperation, getTestClientOperation, listPromptsOperation, answerPromptOperation,
	metaOperation, healthOperation, documentOperation,
}

// describe is the operation's part of the document.
func (o operation) describe() *huma.Operation {
	d := &huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Tags: []string{o.tag}, Summary: o.summary, Description: o.description,
		Responses: map[string]*huma.Response{},
	}
	if o.open {
		d.Security = []map[string][]string{} // overrides the document's
	}
	for _, p := range o.parameters {
		d.Parameters = append(d.Parameters, o.withExamples(p))
	}
	d.Parameters = append(d.Parameters, &huma.Param{Ref: "#/components/parameters/" + wire.RequestIDHeader})
	if o.body != nil {
		d.RequestBody = &huma.RequestBody{Required: !o.bodyOptional, Content: map[string]*huma.MediaType{
			mediaJSON: {Schema: componentOf(o.body.Schema), Examples: o.requestExamples()},
		}}
	}
	for _, a := range o.answers {
		d.Responses[strconv.Itoa(a.status)] = o.response(a)
	}
	for status, response := range errorResponses(o.errorCodes(), o.headers()) {
		if d.Responses[status] != nil {
			panic(fmt.Sprintf("%s answers %s with a result and with an error", o.id, status))
		}
		d.Responses[status] = response
	}
	return d
}

// errorCodes are the codes that an operation may be answered with: its own, and those that follow from its kind.
func (o operation) errorCodes() []string {
	codes := append([]string{"internal"}, o.errors...)
	if o.body != nil {
		codes = append(codes, "invalid_body", "body_too_large", "unsupported_media_type")
	}
	if !o.open {
		codes = append(codes, "unauthorized", "rate_limited", "suspended", "overloaded", "unavailable")
	}
	return codes
}

// headers are those that the operation adds to every answer to a valid key.
func (o operation) headers() []string {
	if o.open {
		return nil
	}
	return rateLimitHeaders
}

func (o operation) response(a described) *huma.Response {
	r := &huma.Response{Description: a.when, Headers: headerRefs(slices.Concat(a.headers, o.headers())...)}
	if a.schema == nil {
		return r
	}
	content := &huma.MediaType{Schema: a.schema, Examples: map[string]*huma.Example{}}
	for _, e := range o.examples {
		if e.status == a.status {
			content.Examples[e.name] = &huma.Example{Summary: e.summary, Value: e.answer}
		}
	}
	r.Content = map[string]*huma.MediaType{mediaJSON: content}
	return r
}

func (o operation) requestExamples() map[string]*huma.Example {
	examples := map[string]*huma.Example{}
	for _, e := range o.examples {
		if e.body != "" {
			examples[e.name] = &huma.Example{Summary: e.summary, Value: rawJSON(e.body)}
		}
	}
	return examples
}

func (o operation) withExamples(p *huma.Param) *huma.Param {
	shown := *p // parameters are shared by operations, examples are not
	for _, e := range o.examples {
		if value, given := e.parameters[p.Name]; given {
			if shown.Examples == nil {
				shown.Examples = map[string]*huma.Example{}
			}
			shown.Examples[e.name] = &huma.Example{Summary: e.summary, Value: value}
		}
	}
	return &shown
}
