package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/payments"
)

// page is the page of Cauri's API. All of it comes from the document.
type page struct {
	frame
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
	ID, Description      string
	Headers, Body, Bytes pageCode
}

type pageStatus struct{ Status, Meaning string }

type pageScenario struct {
	Scenario, Status string
	Least, Most      int64 // milliseconds
}

type pageError struct {
	Status              int
	Code, When, Instead string
	Example             pageCode
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
		frame: frame{Title: d.Info.Title + " API", Path: "docs"}, Version: d.Info.Version, Description: d.Info.Description,
		KeyDescription: d.Components.SecuritySchemes[apidoc.BearerScheme].Description,
		KeyExample:     pageCode{Caption: "Header", Text: "Authorization: Bearer $CAURI_API_KEY"},
		Delivery:       apidoc.DeliveryDescription, ExampleSecret: apidoc.ExampleSecret,
		Schemas: pageSchemas(d.Components.Schemas),
		Headers: headerFields(d.Components.Headers),
	}
	for _, s := range d.Servers {
		p.Servers = append(p.Servers, pageServer{strings.TrimSuffix(s.URL, "/") + "/v1/…", s.Description})
	}
	for _, tag := range d.Tags {
		operations, err := tagged(tag.Name)
		if err != nil {
			return page{}, err
		}
		if len(operations) > 0 {
			p.Groups = append(p.Groups, pageGroup{
				ID: "group-" + strings.ReplaceAll(tag.Name, " ", "-"), Name: tag.Name, Description: tag.Description, Operations: operations,
			})
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
	p.addContents()
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
		p.Errors = append(p.Errors, newPageError(c))
	}
}

func newPageError(c apidoc.ErrorCase) pageError {
	status := c.Example.Status
	return pageError{status, c.Example.Code, c.When, string(c.Instead()), pageCode{Caption: strconv.Itoa(status), Text: indented(c.Example)}}
}

// addContents adds the menu.
func (p *page) addContents() {
	p.Contents = []pageContents{{"Start", []pageLink{{"start", "Overview"}, {"addresses", "Addresses and key"}}}}
	for _, g := range p.Groups {
		group := pageContents{Name: g.Name}
		for _, o := range g.Operations {
			group.Links = append(group.Links, pageLink{o.ID, o.Summary})
		}
		p.Contents = append(p.Contents, group)
	}
	webhooks := pageContents{"Webhooks", []pageLink{{"webhooks", "Delivery"}, {"verification", "Verification"}}}
	for _, e := range p.Events {
		webhooks.Links = append(webhooks.Links, pageLink{e.ID, e.ID})
	}
	objects := pageContents{Name: "Objects"}
	for _, s := range p.Schemas {
		objects.Links = append(objects.Links, pageLink{"schema-" + s.Name, s.Name})
	}
	p.Contents = append(p.Contents, webhooks, pageContents{"Reference", []pageLink{
		{"statuses", "Statuses"}, {"scenarios", "Scenarios"}, {"errors", "Errors"}, {"headers", "Headers"},
	}}, objects)
}

// tagged returns the operations with a tag, in the order of their registration.
func tagged(tag string) (shown []pageOperation, err error) {
	for _, o := range apidoc.Operations {
		if o.Tag != tag {
			continue
		}
		operation, err := newPageOperation(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.ID, err)
		}
		shown = append(shown, operation)
	}
	return shown, nil
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
		Headers: pageCode{Caption: "Headers", Text: headers}, Body: pageCode{Caption: "Body", Text: indented(json.RawMessage(e.Body()))},
		Bytes: pageCode{Caption: "Body", Text: string(e.Body()), Wrap: true},
	}
}

func pageSchemas(registry huma.Registry) []pageSchema {
	var shown []pageSchema
	all := registry.Map()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if isShown(name) {
			shown = append(shown, pageSchema{name, answerFields(all[name])})
		}
	}
	return shown
}
