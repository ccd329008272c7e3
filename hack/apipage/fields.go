package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// pageField is a field, a parameter or a header.
type pageField struct {
	Name        string
	Kind        string // its type and allowed values
	Required    bool
	Description string
}

// schemaFields returns the fields of an object: the required fields in the order of the struct, then the others by
// name.
func schemaFields(schema *huma.Schema) []pageField {
	names := slices.Clone(schema.Required)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var fields []pageField
	for _, name := range names {
		s := schema.Properties[name]
		fields = append(fields, pageField{name, kindOf(s), slices.Contains(schema.Required, name), s.Description})
	}
	return fields
}

// answerFields returns the fields of an answer. It marks the fields that may be missing.
func answerFields(schema *huma.Schema) []pageField {
	fields := schemaFields(schema)
	for i := range fields {
		if !fields[i].Required {
			fields[i].Kind += ", not always there"
		}
		fields[i].Required = false
	}
	return fields
}

// parameterFields returns the parameters of an operation, without those that all operations have.
func parameterFields(parameters []*huma.Param) []pageField {
	var fields []pageField
	for _, p := range parameters {
		if p.Ref != "" {
			continue
		}
		kind := kindOf(p.Schema)
		if p.In != "header" { // the list of headers has a title
			kind = p.In + ", " + kind
		}
		fields = append(fields, pageField{p.Name, kind, p.Required, p.Description})
	}
	return fields
}

// headerFields returns the headers of answers as fields.
func headerFields(headers map[string]*huma.Param) []pageField {
	var fields []pageField
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		h := headers[name]
		fields = append(fields, pageField{name, kindOf(h.Schema), false, h.Description})
	}
	return fields
}

// kindOf returns a text with the type and the allowed values of a schema.
func kindOf(s *huma.Schema) string {
	if s.Ref != "" {
		return strings.TrimPrefix(s.Ref, wire.SchemaPrefix)
	}
	kind := s.Type
	if s.Type == huma.TypeArray {
		kind = "list of " + kindOf(s.Items)
	}
	if s.Nullable {
		kind += " or null"
	}
	return strings.Join(append([]string{kind}, constraintsOf(s)...), ", ")
}

func constraintsOf(s *huma.Schema) []string {
	var words []string
	add := func(format string, values ...any) { words = append(words, fmt.Sprintf(format, values...)) }
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		add("%s to %s", grouped(*s.Minimum), grouped(*s.Maximum))
	case s.Minimum != nil:
		add("at least %s", grouped(*s.Minimum))
	}
	switch {
	case s.MinLength != nil && s.MaxLength != nil:
		add("%d to %d characters", *s.MinLength, *s.MaxLength)
	case s.MaxLength != nil:
		add("at most %d characters", *s.MaxLength)
	}
	switch {
	case s.PatternDescription != "":
		add("%s", s.PatternDescription)
	case s.Pattern != "":
		add("%s", s.Pattern)
	case s.Type == huma.TypeString && s.Format != "":
		add("%s", s.Format)
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			if v != nil { // the type already says that null is allowed
				values = append(values, fmt.Sprint(v))
			}
		}
		add("%s", strings.Join(values, " | "))
	}
	if s.Default != nil {
		add("default %v", reflect.Indirect(reflect.ValueOf(s.Default))) // a field that is a pointer has a pointer here
	}
	if s.Deprecated {
		add("deprecated")
	}
	return words
}

// grouped formats a number with thousands separators: 1,000,000.
func grouped(n float64) string {
	digits := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func isRequest(component string) bool { return strings.HasSuffix(component, "Request") }
