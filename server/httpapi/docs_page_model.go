package httpapi

import (
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/payments"
)

// page is the API's description as the template shows it. All of it comes from the document.
type page struct {
	Style          template.CSS
	Script         template.JS
	Title          string
	Version        string
	Description    string
	Servers        []pageServer
	KeyDescription string
	KeyExample     pageCode
	Groups         []pageGroup
	Delivery       string
	EventHeaders   []pageField
	EventAnswers   []pageAnswer
	Verification   []pageCode
	ExampleSecret  string
	Events         []pageEvent
	Statuses       []pageStatus
	Scenarios      []pageScenario
	Errors         []pageError
	ErrorExample   pageCode
	Headers        []pageField
	Schemas        []pageSchema
}

type pageServer struct{ Path, Description string }

// pageCode is a block of code. Text of one long line is wrapped.
type pageCode struct {
	Caption, Text string
	Wrap          bool
}

type pageGroup struct {
	ID, Name, Description string
	Operations            []pageOperation
}

type pageEvent struct {
	ID, Description string
	Headers, Body   pageCode
}

type pageStatus struct{ Status, Meaning string }

type pageScenario struct {
	Scenario, Status string
	Least, Most      int64 // milliseconds
}

type pageError struct {
	Status     int
	Code, When string
}

type pageSchema struct {
	Name   string
	Fields []pageField
}

func newPage() page {
	d := newDocument()
	p := page{
		Style: template.CSS(docsFile("page.css")), Script: template.JS(docsFile("copy.js")),
		Title: d.Info.Title, Version: d.Info.Version, Description: d.Info.Description,
		KeyDescription: d.Components.SecuritySchemes[bearerScheme].Description,
		KeyExample:     pageCode{Caption: "Header", Text: "Authorization: Bearer $KEY"},
		Delivery:       deliveryDescription, ExampleSecret: exampleSecret,
		Verification: []pageCode{{Caption: "Go", Text: docsFile("verify/verify.go")}, {Caption: "Node.js", Text: docsFile("verify/verify.mjs")}},
		ErrorExample: pageCode{Caption: "400", Text: indented(errorCaseOf("invalid_body").example)},
		Schemas:      pageSchemas(d.Components.Schemas),
		Headers:      headerFields(d.Components.Headers),
	}
	for _, s := range d.Servers {
		p.Servers = append(p.Servers, pageServer{strings.TrimSuffix(s.URL, "/") + "/v1/…", s.Description})
	}
	for _, tag := range d.Tags {
		if operations := tagged(tag.Name); len(operations) > 0 {
			p.Groups = append(p.Groups, pageGroup{ID: "group-" + tag.Name, Name: tag.Name, Description: tag.Description, Operations: operations})
		}
	}
	for _, e := range describedEvents {
		p.Events = append(p.Events, newPageEvent(e, d.Webhooks[e.transaction.Type.Event()].Post))
	}
	first := d.Webhooks[payments.Collection.Event()].Post
	p.EventHeaders, p.EventAnswers = parameterFields(first.Parameters), pageAnswers(first)
	p.addTables()
	return p
}

func (p *page) addTables() {
	for _, s := range payments.Statuses {
		p.Statuses = append(p.Statuses, pageStatus{string(s), statusMeanings[s]})
	}
	for _, s := range payments.Scenarios {
		status, _ := s.Status()
		least, most := latencyRange(status)
		p.Scenarios = append(p.Scenarios, pageScenario{string(s), string(status), least.Milliseconds(), most.Milliseconds()})
	}
	for _, c := range errorCases {
		p.Errors = append(p.Errors, pageError{c.example.Status, c.example.Code, c.when})
	}
}

// tagged are the operations with a tag, in the order of their registration.
func tagged(tag string) []pageOperation {
	var shown []pageOperation
	for _, o := range operations {
		if o.tag == tag {
			shown = append(shown, newPageOperation(o))
		}
	}
	return shown
}

func newPageEvent(e describedEvent, o *huma.Operation) pageEvent {
	headers := "Content-Type: " + mediaJSON
	for _, h := range o.Parameters {
		if example, is := h.Example.(string); is {
			headers += "\n" + h.Name + ": " + example
		}
	}
	return pageEvent{
		ID: o.OperationID, Description: e.description,
		Headers: pageCode{Caption: "Headers", Text: headers}, Body: pageCode{Caption: "Body", Text: string(e.body()), Wrap: true},
	}
}

func pageSchemas(registry huma.Registry) []pageSchema {
	var shown []pageSchema
	all := registry.Map()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		// What a request has in its body stands with its operation, and the statuses have a table.
		if all[name].Type == huma.TypeObject && !isRequest(name) {
			shown = append(shown, pageSchema{name, answerFields(all[name])})
		}
	}
	return shown
}
