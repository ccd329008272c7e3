package operatorapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Described returns the calls that the OpenAPI document and the page of the API list.
func (a *API) Described() (all []*Route) {
	for i := range a.Routes {
		if r := &a.Routes[i]; r.Doc.Elsewhere == "" {
			all = append(all, r)
		}
	}
	return all
}

// Document returns the description of the API as OpenAPI 3.1, without servers. The extension x-fidelity has the mark of
// each call, field and fact.
func (a *API) Document() map[string]any {
	paths := map[string]map[string]any{}
	var tags []map[string]any
	for _, r := range a.Described() {
		if paths[r.Path] == nil {
			paths[r.Path] = map[string]any{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = a.describe(r)
		if !slices.ContainsFunc(tags, func(t map[string]any) bool { return t["name"] == r.Tag() }) {
			tags = append(tags, map[string]any{"name": r.Tag(), "description": "The calls of " + r.Tag() + "."})
		}
	}
	facts := make([]map[string]any, len(a.Facts))
	for i, f := range a.Facts {
		facts[i] = fidelity(f.Mark, f.Source, f.Test)
		facts[i]["what"] = f.What
		if f.Real != "" {
			facts[i]["real"] = f.Real
		}
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "The API of " + string(a.Operator) + " as a sandbox serves it", "version": "1",
			"description": "Written from the same table as the routes. `x-fidelity` says how sure each call and each field is.",
			"license":     map[string]any{"name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
			"contact":     map[string]any{"name": "Cauri", "url": "https://github.com/cauri-dev/cauri"},
		},
		"paths":      paths,
		"tags":       tags,
		"security":   a.security(ByKey),
		"components": map[string]any{"securitySchemes": a.securitySchemes()},
		"x-fidelity": facts,
	}
}

func (a *API) securitySchemes() map[string]any {
	has := func(access Access) bool {
		return slices.ContainsFunc(a.Routes, func(r Route) bool { return r.Access == access })
	}
	schemes := map[string]any{}
	if has(ByToken) {
		schemes["token"] = map[string]any{"type": "http", "scheme": "bearer"}
	}
	if a.KeyHeader != "" {
		schemes["key"] = map[string]any{"type": "apiKey", "in": "header", "name": a.KeyHeader}
	}
	if a.Login == nil && has(ByUser) {
		schemes["user"] = map[string]any{"type": "http", "scheme": "basic"}
	}
	return schemes
}

// security returns the credentials that a call with this access needs in headers, as OpenAPI writes them; empty for
// none.
func (a *API) security(access Access) []any {
	needed := map[string]any{}
	if a.KeyHeader != "" && (access != ByUser || a.Login == nil) {
		needed["key"] = []string{}
	}
	switch {
	case access == ByUser && a.Login == nil:
		needed["user"] = []string{}
	case access == ByToken:
		needed["token"] = []string{}
	}
	if len(needed) == 0 {
		return []any{}
	}
	return []any{needed}
}

func fidelity(mark Mark, source, test string) map[string]any {
	return map[string]any{"mark": mark, "source": source, "test": test}
}

var (
	pathParameter = regexp.MustCompile(`\{(\w+)\}`)
	notInID       = regexp.MustCompile(`\W+`)
)

// ID returns the operation id of a call in the document.
func (r *Route) ID() string {
	return strings.Trim(notInID.ReplaceAllString(strings.ToLower(r.Method)+r.Path, "_"), "_")
}

// Tag returns the tag of a call in the document.
func (r *Route) Tag() string {
	if r.Product == "" {
		return "provisioning"
	}
	return r.Product
}

func (a *API) describe(r *Route) map[string]any {
	described := map[string]any{
		"operationId": r.ID(),
		"summary":     r.Doc.Summary,
		"description": r.Doc.Summary + ". How sure we are of it: " + string(r.Doc.Mark) + " (" + r.Doc.Source + ").",
		"tags":        []string{r.Tag()},
		"x-fidelity":  fidelity(r.Doc.Mark, r.Doc.Source, r.Doc.Test),
		"responses":   a.responses(r),
	}
	if parameters := a.parameters(r); len(parameters) > 0 {
		described["parameters"] = parameters
	}
	if r.Doc.Body != "" {
		schema := r.schema(r.Doc.Request)
		described["requestBody"] = map[string]any{"required": schema["required"] != nil, "content": r.content(r.Doc.Body, schema)}
	}
	if r.Access != ByKey {
		described["security"] = a.security(r.Access)
	}
	return described
}

func (r *Route) schema(fields []Field) map[string]any {
	return object(fields, r.Doc.Mark, r.Doc.Source)
}

func (a *API) parameters(r *Route) (all []any) {
	add := func(name, in string, required bool, schema map[string]any) {
		p := map[string]any{"name": name, "in": in, "required": required, "schema": schema}
		if example := a.Examples[name]; example != "" {
			p["example"] = example
		}
		all = append(all, p)
	}
	for _, found := range pathParameter.FindAllStringSubmatch(r.Path, -1) {
		add(found[1], "path", true, map[string]any{"type": "string"})
	}
	for _, q := range r.Doc.Query {
		add(q.Name, "query", !q.Optional, q.schema(r.Doc.Mark, r.Doc.Source))
	}
	for _, h := range r.Doc.Headers {
		add(h.Name, "header", !h.Optional, h.schema(r.Doc.Mark, r.Doc.Source))
	}
	return all
}

// responses returns the responses of a call: the successful answer, and the refusals by their status.
func (a *API) responses(r *Route) map[string]any {
	good := map[string]any{"description": http.StatusText(r.Doc.Status)}
	if r.Doc.Answer != "" {
		good["content"] = content(r.Doc.Answer, r.schema(r.Doc.Response))
	}
	responses := map[string]any{
		strconv.Itoa(r.Doc.Status): good,
		"default":                  map[string]any{"description": "What a fault of the sandbox makes of it."},
	}
	byStatus := map[int][]Answer{}
	reasons := map[int][]string{}
	for _, reason := range a.Refusals(r) {
		for _, refusal := range a.refusals(r, reason) {
			answer := a.Answer(r, refusal)
			byStatus[answer.Status] = append(byStatus[answer.Status], answer)
			if name := "`" + string(reason) + "`"; !slices.Contains(reasons[answer.Status], name) {
				reasons[answer.Status] = append(reasons[answer.Status], name)
			}
		}
	}
	flickers := r.Flicker.answers()
	for status, answers := range flickers {
		byStatus[status] = append(byStatus[status], answers...)
	}
	for status, answers := range byStatus {
		var descriptions []string
		if len(reasons[status]) > 0 {
			descriptions = append(descriptions, "Refused: "+strings.Join(reasons[status], ", ")+". The header X-Cauri-Reason says it, or more.")
		}
		if len(flickers[status]) > 0 {
			descriptions = append(descriptions, "A fault with `statusFlickers` answers so at random.")
		}
		told := map[string]any{"description": strings.Join(descriptions, " ")}
		schema := refused(answers, a.Drawn)
		if status == r.Doc.Status { // a refusal, or a wrong answer, with the status of a success
			told["description"] = fmt.Sprint(good["description"], ". ", told["description"])
			schema = map[string]any{"anyOf": []any{r.schema(r.Doc.Response), schema}}
		}
		switch {
		case status == r.Doc.Status:
			told["content"] = content(r.Doc.Answer, schema)
		case schema != nil:
			told["content"] = map[string]any{"application/json": map[string]any{"schema": schema}}
		}
		responses[strconv.Itoa(status)] = told
	}
	return responses
}

// answers returns the wrong answers of a status call by their status.
func (f *Flicker) answers() map[int][]Answer {
	byStatus := map[int][]Answer{}
	if f == nil {
		return byStatus
	}
	for _, wrong := range slices.Concat(f.Pending, f.Ended) {
		if wrong != nil {
			answer := wrong()
			byStatus[answer.Status] = append(byStatus[answer.Status], answer)
		}
	}
	return byStatus
}

// Answer returns the answer of a call for a refusal of a request without a body.
func (a *API) Answer(r *Route, refusal *Refusal) Answer {
	if r.Refuse != nil {
		return r.Refuse(refusal, nil)
	}
	return a.Refuse(refusal)
}

// refusals returns the refusals of a call for one reason: one for each different answer.
func (a *API) refusals(r *Route, reason Reason) (all []*Refusal) {
	prefix, namesField := a.FieldReasons[reason]
	switch {
	case reason == TokenInvalid:
		for _, token := range []Token{UnknownToken, NoToken, ExpiredToken} {
			all = append(all, &Refusal{Reason: reason, Token: token})
		}
	case reason == UserInvalid && a.Login != nil:
		all = []*Refusal{{Reason: reason}, {Reason: reason, Basic: true}}
	case namesField:
		for _, f := range r.Doc.Request {
			all = append(all, Because(reason, prefix+f.Name))
		}
	default:
		all = []*Refusal{Refuse(reason)}
	}
	return all
}

// Refusals returns the reasons for which a call is refused.
func (a *API) Refusals(r *Route) []Reason {
	all := []Reason{TooMany, Unavailable, Internal}
	if a.KeyHeader != "" {
		all = append([]Reason{KeyMissing, KeyInvalid}, all...)
	}
	if a.NeedsLength && r.Method == http.MethodPost {
		all = append(all, NoLength)
	}
	switch r.Access {
	case ByUser:
		all = append(all, UserInvalid)
	case ByToken:
		all = append(all, TokenInvalid)
	}
	return append(all, r.Doc.Refused...)
}

// content returns the OpenAPI content of a request's body, which is JSON or a form.
func (r *Route) content(example string, schema map[string]any) map[string]any {
	c := content(example, schema)
	if !r.Doc.Form {
		return c
	}
	return map[string]any{FormType: c["application/json"]}
}

func content(example string, schema map[string]any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema, "example": json.RawMessage(example)}}
}
