package apidoc

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Operation is the description of one route.
type Operation struct {
	ID, Method, Path string
	Tag, Summary     string
	Description      string // paragraphs of plain text, with `code` in backticks
	Open             bool   // whether the route needs no key
	Parameters       []*huma.Param
	Body             *huma.Schema // schema of the request's body; nil for none
	BodyOptional     bool
	Media            string // media type of the answer; empty: JSON
	answers          []described
	csv              string   // example of the result as CSV; empty: only JSON
	errors           []string // error codes, except those that errorCodes adds
	Examples         []Example
}

// described is a successful answer of a route.
type described struct {
	status  int
	when    string
	schema  *huma.Schema // nil: an answer without a body
	headers []string     // header names, except those of every answer
}

// Example is a request with its answer. The tests send every example. The document sorts examples by name. Many tools
// use only the first example, so the first one is a success.
type Example struct {
	name, Summary string
	Parameters    map[string]any
	Body          string // body of the request; empty for none
	Status        int
	Answer        any
}

// Name returns the name of the example in the document.
func (e Example) Name() string { return e.name }

// Operations has all operations of the API, in the order of the page.
var Operations = []Operation{
	CreatePayment, GetPayment, ListPayments, CreateRefund, CreateDisbursement,
	ListEvents, GetEvent, ResendEvent, CompareEvent, GetWebhook, CreateReceiverCheck, GetReceiverCheck,
	ListTestClients, GetTestClient, CreateTestClient, PatchTestClient, ListPrompts, AnswerPrompt,
	StartManual, EndManual, GetOneTimeCode, DeleteTestClient,
	ListTestNumbers, ResetSandbox, ListRequests,
	ListAccounts, ListEntries,
	ListFaults, SetFault, RemoveFault, RemoveFaults,
	GetClock, AdvanceClock, OpenStream,
	EvaluateExpectations,
	CreateConsoleLink, ListConsoleSessions, DeleteConsoleSession, DeleteConsoleSessions,
	GetMeta, GetHealth, GetDocument, GetDocument30,
}

// Describe returns the operation object of the document.
func (o Operation) Describe() *huma.Operation {
	d := &huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Tags: []string{o.Tag}, Summary: o.Summary, Description: o.Description,
		Responses: map[string]*huma.Response{},
	}
	if o.Open {
		d.Security = []map[string][]string{} // overrides the security of the document
	}
	for _, p := range o.Parameters {
		d.Parameters = append(d.Parameters, o.withExamples(p))
	}
	d.Parameters = append(d.Parameters, &huma.Param{Ref: "#/components/parameters/" + wire.RequestIDHeader})
	if o.Body != nil {
		d.RequestBody = &huma.RequestBody{Required: !o.BodyOptional, Content: map[string]*huma.MediaType{
			MediaJSON: {Schema: componentOf(o.Body), Examples: o.requestExamples()},
		}}
		if o.Method == http.MethodPatch {
			d.RequestBody.Content["application/merge-patch+json"] = &huma.MediaType{Schema: componentOf(o.Body)}
		}
	}
	for _, a := range o.answers {
		d.Responses[strconv.Itoa(a.status)] = o.response(a)
	}
	for status, response := range errorResponses(o.errorCodes(), o.headers()) {
		if d.Responses[status] != nil {
			panic(fmt.Sprintf("%s answers %s with a result and with an error", o.ID, status))
		}
		d.Responses[status] = response
	}
	return d
}

// The error codes of all operations with a body, and of all with a key.
var (
	bodyErrors = []string{"body_too_large", "unsupported_media_type"}
	keyErrors  = []string{
		"unauthorized", "rate_limited", "suspended", "overloaded", "unavailable", "not_implemented", "bad_gateway", "gateway_timeout",
	}
	// CommonErrors are the error codes that say nothing about one operation.
	CommonErrors = slices.Concat(bodyErrors, keyErrors, []string{"internal"})
)

// errorCodes returns the error codes of an operation: its own, and those of all operations with a key or with a body.
func (o Operation) errorCodes() []string {
	codes := append([]string{"internal"}, o.errors...)
	if o.Body != nil {
		codes = append(append(codes, "invalid_body"), bodyErrors...)
	}
	if !o.Open {
		codes = append(codes, keyErrors...)
	}
	return codes
}

// headers returns the names of the headers that the operation adds to each answer to a valid key.
func (o Operation) headers() []string {
	if o.Open {
		return nil
	}
	headers := append([]string{faults.Header}, RateLimitHeaders...)
	if o.Body != nil || slices.Contains(o.errors, "invalid_params") {
		headers = append(headers, wire.IgnoredHeader)
	}
	return headers
}

func (o Operation) response(a described) *huma.Response {
	r := &huma.Response{Description: a.when, Headers: headerRefs(slices.Concat(a.headers, o.headers())...)}
	if a.schema == nil {
		return r
	}
	content := &huma.MediaType{Schema: a.schema, Examples: map[string]*huma.Example{}}
	for _, e := range o.Examples {
		if e.Status == a.status {
			content.Examples[e.name] = &huma.Example{Summary: e.Summary, Value: e.Answer}
		}
	}
	r.Content = map[string]*huma.MediaType{cmp.Or(o.Media, MediaJSON): content}
	if o.csv != "" {
		r.Content[MediaCSV] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}, Example: o.csv}
	}
	return r
}

func (o Operation) requestExamples() map[string]*huma.Example {
	examples := map[string]*huma.Example{}
	for _, e := range o.Examples {
		if e.Body != "" {
			examples[e.name] = &huma.Example{Summary: e.Summary, Value: rawJSON(e.Body)}
		}
	}
	return examples
}

func (o Operation) withExamples(p *huma.Param) *huma.Param {
	shown := *p // a copy, because operations share the parameter but not its examples
	for _, e := range o.Examples {
		if value, given := e.Parameters[p.Name]; given {
			if shown.Examples == nil {
				shown.Examples = map[string]*huma.Example{}
			}
			shown.Examples[e.name] = &huma.Example{Summary: e.Summary, Value: value}
		}
	}
	return &shown
}
