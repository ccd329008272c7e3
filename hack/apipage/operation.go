package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

type pageOperation struct {
	ID, Method, Path, Summary, Description string
	Open                                   bool
	Mark                                   operatorapi.Mark // empty for Cauri's API, and for what an operator documents
	Parameters, Headers                    []pageField
	Body                                   *pageBody
	Answers                                []pageAnswer
	Errors                                 []pageError // without those of every call
	AlsoErrors                             template.HTML
	Examples                               []pageExample
}

type pageBody struct {
	Optional bool
	Fields   []pageField
}

type pageAnswer struct {
	Status, When, Schema string
	Headers              []string
	Fields               []pageField
}

type pageExample struct {
	Name, Summary string
	Request       map[string]string // by language
	Answer        pageCode
}

func newPageOperation(o apidoc.Operation) (pageOperation, error) {
	described := o.Describe()
	p := pageOperation{
		ID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: o.Description, Open: o.Open,
		Parameters: parameterFields(described.Parameters), Answers: pageAnswers(described),
	}
	p.Errors, p.AlsoErrors = pageErrors(described)
	if o.Body != nil {
		p.Body = &pageBody{Optional: o.BodyOptional, Fields: schemaFields(o.Body)}
	}
	for _, e := range o.Examples {
		written, err := requestOf(o, e).inLanguages()
		if err != nil {
			return p, err
		}
		p.Examples = append(p.Examples, pageExample{e.Name(), e.Summary, written, answerCode(e.Status, e.Answer)})
	}
	return p, nil
}

// answerCode returns an answer with its status. The value nil means an answer without a body.
func answerCode(status int, value any) pageCode {
	caption := fmt.Sprintf("Answer %d %s", status, http.StatusText(status))
	if value == nil {
		return pageCode{Caption: caption + ", without a body"}
	}
	return pageCode{Caption: caption, Text: indented(value)}
}

// pageAnswers returns the successful answers, with the headers that not every answer has.
func pageAnswers(o *huma.Operation) []pageAnswer {
	var answers []pageAnswer
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		r := o.Responses[status]
		if isError(r) {
			continue
		}
		a := pageAnswer{Status: status, When: r.Description}
		for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
			if name != wire.APIVersionHeader && name != wire.RequestIDHeader && !slices.Contains(apidoc.RateLimitHeaders, name) {
				a.Headers = append(a.Headers, name)
			}
		}
		if content := r.Content[apidoc.MediaJSON]; content != nil {
			a.Schema = strings.TrimPrefix(content.Schema.Ref, decode.SchemaPrefix)
		}
		answers = append(answers, a)
	}
	return answers
}

func isError(r *huma.Response) bool {
	content := r.Content[apidoc.MediaJSON]
	return content != nil && content.Schema.Ref == apidoc.ErrorSchema.Ref
}

// pageErrors returns the errors of an operation, in the order of the table, and links to those that every call with a key
// or with a body has.
func pageErrors(o *huma.Operation) (errors []pageError, also template.HTML) {
	var links []string
	for _, c := range apidoc.ErrorCases {
		code := c.Example.Code
		r := o.Responses[fmt.Sprint(c.Example.Status)]
		switch {
		case r == nil || !isError(r) || r.Content[apidoc.MediaJSON].Examples[code] == nil:
		case slices.Contains(apidoc.CommonErrors, code):
			links = append(links, linkToError(code))
		default:
			errors = append(errors, newPageError(c))
		}
	}
	return errors, template.HTML(strings.Join(links, ", "))
}

func linkToError(code string) string {
	return `<a href="#error-` + code + `"><code>` + code + `</code></a>`
}

// requestOf returns the request of an example.
func requestOf(o apidoc.Operation, e apidoc.Example) request {
	path, query := o.Path, url.Values{}
	for _, p := range o.Parameters {
		value, given := e.Parameters[p.Name]
		switch {
		case given && p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(value)))
		case given:
			query.Set(p.Name, fmt.Sprint(value))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r := request{Method: o.Method, Address: apidoc.PageAddress + "/api" + path, Body: e.Body}
	if !o.Open {
		r.Headers = append(r.Headers, requestHeader{"Authorization", "Bearer ", "CAURI_API_KEY"})
	}
	if e.Body != "" {
		r.Headers = append(r.Headers, requestHeader{Name: "Content-Type", Text: apidoc.MediaJSON})
	}
	return r
}

// indented returns a value as indented JSON.
func indented(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		panic(err) // encoding an answer does not fail
	}
	return strings.TrimSpace(b.String())
}
