package operatorapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Field is a field of a body, or a header.
type Field struct {
	Name     string
	About    string
	Types    []string // JSON types; empty: an object if there are Fields, otherwise a string
	Optional bool
	Enum     []string
	Pattern  string // pattern of a string
	Max      int    // maximum number of characters of a string; zero: no limit
	Fields   []Field
	Mark     Mark // empty: the mark and source of the call
	Source   string
}

// Assumed returns a copy of the field with the mark [Assumed].
func (f Field) Assumed() Field {
	f.Mark, f.Source = Assumed, OurChoice
	return f
}

// object returns the schema of an object. A field without a mark gets the given mark and source.
func object(fields []Field, mark Mark, source string) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range fields {
		f := &fields[i]
		properties[f.Name] = f.schema(mark, source)
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (f *Field) schema(mark Mark, source string) map[string]any {
	if f.Mark != "" {
		mark, source = f.Mark, f.Source
	}
	s := map[string]any{"type": "string"}
	switch {
	case f.Fields != nil:
		s = object(f.Fields, mark, source)
	case len(f.Types) == 1:
		s["type"] = f.Types[0]
	case len(f.Types) > 1:
		s["type"] = f.Types
	}
	if f.About != "" {
		s["description"] = f.About
	}
	if f.Enum != nil {
		s["enum"] = f.Enum
	}
	if f.Pattern != "" {
		s["pattern"] = f.Pattern
	}
	if f.Max > 0 {
		s["maxLength"] = f.Max
	}
	s["x-fidelity"] = map[string]any{"mark": mark, "source": source}
	return s
}

// refused returns the schema of the bodies of refusals that are JSON; nil if no refusal has one. Bodies with the same keys
// share one object schema. The values of the fields drawn are not enumerated.
func refused(answers []Answer, drawn []string) map[string]any {
	byKeys := map[string][]map[string]any{}
	for _, a := range answers {
		if _, isText := a.Body.(Text); a.Body != nil && !isText {
			body := asObject(a.Body)
			keys := strings.Join(slices.Sorted(maps.Keys(body)), " ")
			byKeys[keys] = append(byKeys[keys], body)
		}
	}
	var shapes []any
	for _, keys := range slices.Sorted(maps.Keys(byKeys)) {
		properties := map[string]any{}
		for key := range strings.FieldsSeq(keys) {
			if properties[key] = oneOfValues(key, byKeys[keys], drawn); slices.Contains(drawn, key) {
				properties[key] = map[string]any{"type": "string"}
			}
		}
		shapes = append(shapes, map[string]any{"type": "object", "properties": properties, "required": strings.Fields(keys)})
	}
	switch len(shapes) {
	case 0:
		return nil
	case 1:
		return shapes[0].(map[string]any)
	}
	return map[string]any{"oneOf": shapes}
}

// oneOfValues returns the schema of the value under a key that all the bodies have. The schema enumerates the values of
// the bodies.
func oneOfValues(key string, bodies []map[string]any, drawn []string) map[string]any {
	if inside := insideOf(key, bodies, drawn); inside != nil {
		return inside
	}
	var values []any
	for _, body := range bodies {
		if !slices.Contains(values, body[key]) {
			values = append(values, body[key])
		}
	}
	kind := "string"
	switch values[0].(type) {
	case float64:
		kind = "integer"
	case bool:
		kind = "boolean"
	}
	return map[string]any{"type": kind, "enum": values}
}

// insideOf returns the schema of the objects that the bodies have under a key; nil if no body has an object there.
func insideOf(key string, bodies []map[string]any, drawn []string) map[string]any {
	var answers []Answer
	for _, body := range bodies {
		if inside, isObject := body[key].(map[string]any); isObject {
			answers = append(answers, Answer{Body: inside})
		}
	}
	return refused(answers, drawn)
}

func asObject(body any) (o map[string]any) {
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		panic(err) // encoding objects with strings and numbers does not fail
	}
	return o
}
