package native

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Header is a header of a request beside those of its credentials.
type Header struct {
	Name     string
	Optional bool
}

// Document describes the API as OpenAPI 3.1, without its servers. x-fidelity says of each call, and of the facts beside them, how sure
// it is.
func (a *API) Document() map[string]any {
	paths := map[string]map[string]any{}
	for i := range a.Routes {
		r := &a.Routes[i]
		if paths[r.Path] == nil {
			paths[r.Path] = map[string]any{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = r.describe()
	}
	facts := make([]map[string]any, len(a.Facts))
	for i, f := range a.Facts {
		facts[i] = fidelity(f.Mark, f.Source, f.Test)
		facts[i]["what"] = f.What
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "The API of " + string(a.Operator) + " as a sandbox serves it", "version": "1",
			"description": "Written from the same table as the routes. `x-fidelity` says how sure each part is. Bodies are examples.",
		},
		"paths":    paths,
		"security": []any{map[string]any{"key": []string{}}},
		"components": map[string]any{"securitySchemes": map[string]any{
			"key":   map[string]any{"type": "apiKey", "in": "header", "name": a.KeyHeader},
			"user":  map[string]any{"type": "http", "scheme": "basic"},
			"token": map[string]any{"type": "http", "scheme": "bearer"},
		}},
		"x-fidelity": facts,
	}
}

func fidelity(mark Mark, source, test string) map[string]any {
	return map[string]any{"mark": mark, "source": source, "test": test}
}

var (
	pathParameter = regexp.MustCompile(`\{(\w+)\}`)
	notInID       = regexp.MustCompile(`\W+`)
)

func (r *Route) describe() map[string]any {
	good := map[string]any{"description": http.StatusText(r.Doc.Status)}
	if r.Doc.Answer != "" {
		good["content"] = content(r.Doc.Answer)
	}
	described := map[string]any{
		"operationId": strings.Trim(notInID.ReplaceAllString(strings.ToLower(r.Method)+r.Path, "_"), "_"),
		"summary":     r.Doc.Summary,
		"x-fidelity":  fidelity(r.Doc.Mark, r.Doc.Source, r.Doc.Test),
		"responses": map[string]any{
			strconv.Itoa(r.Doc.Status): good,
			"default": map[string]any{
				"description": "Refused, in the operator's form. The header X-Cauri-Reason says more exactly why.",
			},
		},
	}
	if parameters := r.parameters(); len(parameters) > 0 {
		described["parameters"] = parameters
	}
	if r.Doc.Body != "" {
		described["requestBody"] = map[string]any{"required": true, "content": content(r.Doc.Body)}
	}
	switch r.Access {
	case ByUser:
		described["security"] = []any{map[string]any{"key": []string{}, "user": []string{}}}
	case ByToken:
		described["security"] = []any{map[string]any{"key": []string{}, "token": []string{}}}
	}
	return described
}

func (r *Route) parameters() (all []any) {
	add := func(name, in string, required bool) {
		all = append(all, map[string]any{"name": name, "in": in, "required": required, "schema": map[string]any{"type": "string"}})
	}
	for _, found := range pathParameter.FindAllStringSubmatch(r.Path, -1) {
		add(found[1], "path", true)
	}
	for _, h := range r.Doc.Headers {
		add(h.Name, "header", !h.Optional)
	}
	return all
}

func content(example string) map[string]any {
	return map[string]any{"application/json": map[string]any{
		"schema": map[string]any{"type": "object"}, "example": json.RawMessage(example),
	}}
}
