package main

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

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
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

func newPageOperation(o apidoc.Operation) pageOperation {
	described := o.Describe()
	p := pageOperation{
		ID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: o.Description, Open: o.Open,
		Parameters: parameterFields(described.Parameters), Answers: pageAnswers(described), Errors: pageErrors(described),
	}
	if o.Body != nil {
		p.Body = &pageBody{Optional: o.BodyOptional, Fields: schemaFields(o.Body)}
	}
	for _, e := range o.Examples {
		p.Examples = append(p.Examples, pageExample{
			Summary: e.Summary,
			Request: pageCode{Caption: "Request", Text: curl(o, e)},
			Answer:  pageCode{Caption: "Answer " + strconv.Itoa(e.Status), Text: indented(e.Answer)},
		})
	}
	return p
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
			a.Schema = strings.TrimPrefix(content.Schema.Ref, wire.SchemaPrefix)
		}
		answers = append(answers, a)
	}
	return answers
}

func isError(r *huma.Response) bool {
	content := r.Content[apidoc.MediaJSON]
	return content != nil && content.Schema.Ref == apidoc.ErrorSchema.Ref
}

// pageErrors returns the errors of an operation, in the order of the table.
func pageErrors(o *huma.Operation) []pageError {
	var errors []pageError
	for _, c := range apidoc.ErrorCases {
		r := o.Responses[fmt.Sprint(c.Example.Status)]
		if r != nil && isError(r) && r.Content[apidoc.MediaJSON].Examples[c.Example.Code] != nil {
			errors = append(errors, pageError{c.Example.Status, c.Example.Code, c.When, string(c.Instead)})
		}
	}
	return errors
}

// curl returns the command that sends an example's request.
func curl(o apidoc.Operation, e apidoc.Example) string {
	path, query := o.Path, url.Values{}
	for _, p := range o.Parameters {
		value, given := e.Parameters[p.Name]
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
	lines := []string{`curl -sS "$CAURI_URI/api` + path + `"`}
	if !o.Open {
		lines = append(lines, `-H "Authorization: Bearer $CAURI_API_KEY"`)
	}
	switch {
	case e.Body != "":
		lines = append(lines, "-H 'Content-Type: "+apidoc.MediaJSON+"'", "-d '"+strings.ReplaceAll(e.Body, "'", `'\''`)+"'")
	case o.Method != http.MethodGet:
		lines = append(lines, "-X "+o.Method)
	}
	return strings.Join(lines, " \\\n  ")
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
