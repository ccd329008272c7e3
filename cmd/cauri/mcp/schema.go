package mcp

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
)

// field is a field of the arguments or of the output of a tool.
type field struct {
	reflect.StructField
	name     string
	required bool // it has no omitempty
}

// fieldsOf returns the fields of a struct that JSON has, those of embedded structs too.
func fieldsOf(t reflect.Type) (all []field) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" {
			continue
		}
		all = append(all, field{f, name, !strings.Contains(options, "omit")})
	}
	return all
}

// schemaOf returns the JSON schema of a struct. It has neither lists of types nor references, which some clients refuse.
// Only arguments are described, because the list of tools has a budget.
func schemaOf(t reflect.Type, described bool) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fieldsOf(t) {
		schema := typeSchema(f.Type, described)
		if described {
			f.describe(schema)
		}
		properties[f.name] = schema
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if described {
		schema["additionalProperties"] = false
	}
	return schema
}

// describe adds what the tags of an argument say.
func (f *field) describe(schema map[string]any) {
	if text := f.Tag.Get("doc"); text != "" {
		schema["description"] = text
	}
	if values := f.values(); values != nil {
		schema["enum"] = values
	}
	for _, bound := range []string{"minimum", "maximum"} {
		if n, given := f.bound(bound); given {
			schema[bound] = n
		}
	}
}

// values returns the values that the tag enum allows; nil: all. A name after $ stands for a list of package payments or
// faults.
func (f *field) values() []string {
	switch text := f.Tag.Get("enum"); text {
	case "":
		return nil
	case "$statuses":
		return payments.Texts(payments.Statuses)
	case "$scenarios":
		return payments.Texts(payments.Scenarios)
	case "$countries":
		return payments.Texts(payments.Countries)
	case "$operators":
		return payments.Texts(payments.Operators)
	case "$currencies":
		return payments.Texts(payments.Currencies)
	case "$presets":
		var names []string
		for _, p := range faults.Presets() {
			names = append(names, p.Name)
		}
		return names
	default:
		return strings.Split(text, ",")
	}
}

func (f *field) bound(name string) (n int64, given bool) {
	n, err := strconv.ParseInt(f.Tag.Get(name), 10, 64)
	return n, err == nil
}

func typeSchema(t reflect.Type, described bool) map[string]any {
	if t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface {
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), described)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem(), described)}
	case reflect.Map:
		return map[string]any{"type": "object"}
	case reflect.Struct:
		return schemaOf(t, described)
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	}
	return map[string]any{"type": "integer"}
}
