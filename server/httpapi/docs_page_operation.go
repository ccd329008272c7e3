package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"

	"github.com/danielgtaylor/huma/v2"
)

type pageOperation struct {
	ID, Method, Path, Summary, Description string
	Open                                   bool
	Parameters                             []pageField
	Body                                   *pageBody
	Answers                                []pageAnswer
	Errors                                 []pageError
	Examples                               []pageExample
}

type pageBody struct {
	Optional bool
	Fields   []pageField
}

type pageAnswer struct {
	Status, When, Schema string
	Headers              []string
}

type pageExample struct {
	Summary         string
	Request, Answer pageCode
}

func newPageOperation(o operation) pageOperation {
	described := o.describe()
	p := pageOperation{
		ID: o.id, Method: o.method, Path: o.path, Summary: o.summary, Description: o.description, Open: o.open,
		Parameters: parameterFields(described.Parameters), Answers: pageAnswers(described), Errors: pageErrors(described),
	}
	if o.body != nil {
		p.Body = &pageBody{Optional: o.bodyOptional, Fields: schemaFields(o.body.Schema)}
	}
	for _, e := range o.examples {
		p.Examples = append(p.Examples, pageExample{
			Summary: e.summary,
			Request: pageCode{Caption: "Request", Text: o.curl(e)},
			Answer:  pageCode{Caption: "Answer " + strconv.Itoa(e.status), Text: indented(e.answer)},
		})
	}
	return p
}

// pageAnswers are the answers that are no errors, with the headers that are not on every answer.
func pageAnswers(o *huma.Operation) []pageAnswer {
	var answers []pageAnswer
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		r := o.Responses[status]
		if isError(r) {
			continue
		}
		a := pageAnswer{Status: status, When: r.Description}
		for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
			if name != wire.APIVersionHeader && name != wire.RequestIDHeader && !slices.Contains(rateLimitHeaders, name) {
				a.Headers = append(a.Headers, name)
			}
		}
		if content := r.Content[mediaJSON]; content != nil {
			a.Schema = strings.TrimPrefix(content.Schema.Ref, wire.SchemaPrefix)
		}
		answers = append(answers, a)
	}
	return answers
}

func isError(r *huma.Response) bool {
	content := r.Content[mediaJSON]
	return content != nil && content.Schema.Ref == errorSchema.Ref
}

// pageErrors are the errors of an operation, in the order of the table.
func pageErrors(o *huma.Operation) []pageError {
	var errors []pageError
	for _, c := range errorCases {
		r := o.Responses[fmt.Sprint(c.example.Status)]
		if r != nil && isError(r) && r.Content[mediaJSON].Examples[c.example.Code] != nil {
			errors = append(errors, pageError{c.example.Status, c.example.Code, c.when})
		}
	}
	return errors
}

// curl is the command that makes an example's request.
func (o operation) curl(e example) string {
	path, query := o.path, url.Values{}
	for _, p := range o.parameters {
		value, given := e.parameters[p.Name]
		switch {
		case given && p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(value))
		case given:
			query.Set(p.Name, fmt.Sprint(value))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	lines := []string{`curl -sS "$URI/api` + path + `"`}
	if !o.open {
		lines = append(lines, `-H "Authorization: Bearer $KEY"`)
	}
	switch {
	case e.body != "":
		lines = append(lines, "-H 'Content-Type: "+mediaJSON+"'", "-d '"+strings.ReplaceAll(e.body, "'", `'\''`)+"'")
	case o.method != http.MethodGet:
		lines = append(lines, "-X "+o.method)
	}
	return strings.Join(lines, " \\\n  ")
}

// indented is a value as JSON for people.
func indented(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		panic(err) // examples are made of what is answered
	}
	return strings.TrimSpace(b.String())
}
