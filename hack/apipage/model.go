package main

import (
	"html/template"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/payments"
)

// page is the data for the template. All of it comes from the document.
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
	Status              int
	Code, When, Instead string
}

type pageSchema struct {
	Name   string
	Fields []pageField
}

// verifiers are programs that verify a signature, by their languages.
var verifiers = []struct{ language, file string }{
	{"Go", "server/httpapi/apidoc/verify/verify.go"},
	{"Node.js", "server/httpapi/apidoc/verify/verify.mjs"},
	{"Python", "server/httpapi/apidoc/verify/verify.py"},
	{"PHP", "server/httpapi/apidoc/verify/verify.php"},
	{"Java", "server/httpapi/apidoc/verify/Verify.java"},
}

func newPage() (page, error) {
	d := apidoc.NewDocument()
	p := page{
		Style: template.CSS(apidoc.PageStyle), Script: template.JS(apidoc.PageScript),
		Title: d.Info.Title, Version: d.Info.Version, Description: d.Info.Description,
		KeyDescription: d.Components.SecuritySchemes[apidoc.BearerScheme].Description,
		KeyExample:     pageCode{Caption: "Header", Text: "Authorization: Bearer $CAURI_API_KEY"},
		Delivery:       apidoc.DeliveryDescription, ExampleSecret: apidoc.ExampleSecret,
		ErrorExample: pageCode{Caption: "400", Text: indented(apidoc.ErrorCaseOf("invalid_body").Example)},
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
	for _, e := range apidoc.Events {
		p.Events = append(p.Events, newPageEvent(e, d.Webhooks[e.Transaction.Type.Event()].Post))
	}
	first := d.Webhooks[payments.Collection.Event()].Post
	p.EventHeaders, p.EventAnswers = parameterFields(first.Parameters), pageAnswers(first)
	for _, v := range verifiers {
		text, err := os.ReadFile(v.file)
		if err != nil {
			return page{}, err
		}
		p.Verification = append(p.Verification, pageCode{Caption: v.language, Text: string(text)})
	}
	p.addTables()
	return p, nil
}

func (p *page) addTables() {
	for _, s := range payments.Statuses {
		p.Statuses = append(p.Statuses, pageStatus{string(s), apidoc.StatusMeanings[s]})
	}
	for _, s := range payments.Scenarios {
		status, _ := s.Status()
		least, most := apidoc.LatencyRange(status)
		p.Scenarios = append(p.Scenarios, pageScenario{string(s), string(status), least.Milliseconds(), most.Milliseconds()})
	}
	for _, c := range apidoc.ErrorCases {
		p.Errors = append(p.Errors, pageError{c.Example.Status, c.Example.Code, c.When, string(c.Instead)})
	}
}

// tagged returns the operations with a tag, in the order of their registration.
func tagged(tag string) []pageOperation {
	var shown []pageOperation
	for _, o := range apidoc.Operations {
		if o.Tag == tag {
			shown = append(shown, newPageOperation(o))
		}
	}
	return shown
}

func newPageEvent(e apidoc.DescribedEvent, o *huma.Operation) pageEvent {
	headers := "Content-Type: " + apidoc.MediaJSON
	for _, h := range o.Parameters {
		if example, is := h.Example.(string); is {
			headers += "\n" + h.Name + ": " + example
		}
	}
	return pageEvent{
		ID: o.OperationID, Description: e.Description,
		Headers: pageCode{Caption: "Headers", Text: headers}, Body: pageCode{Caption: "Body", Text: string(e.Body()), Wrap: true},
	}
}

func pageSchemas(registry huma.Registry) []pageSchema {
	var shown []pageSchema
	all := registry.Map()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		// Bodies of requests are shown with their operations, and statuses in a table.
		if all[name].Type == huma.TypeObject && !isRequest(name) {
			shown = append(shown, pageSchema{name, answerFields(all[name])})
		}
	}
	return shown
}
