package main

import (
	"fmt"
	"html/template"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// pageField is a field, a parameter or a header.
type pageField struct {
	Name        string
	Kind        template.HTML // its type and allowed values
	Required    bool
	Description string
	Mark        operatorapi.Mark // empty for a field of Cauri's API, and for what an operator documents
	Fields      []pageField
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
		required := slices.Contains(schema.Required, name)
		fields = append(fields, pageField{Name: name, Kind: kindOf(s), Required: required, Description: s.Description})
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
			kind = template.HTML(p.In) + ", " + kind
		}
		fields = append(fields, pageField{Name: p.Name, Kind: kind, Required: p.Required, Description: p.Description})
	}
	return fields
}

// headerFields returns the headers of answers as fields.
func headerFields(headers map[string]*huma.Param) []pageField {
	var fields []pageField
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		h := headers[name]
		fields = append(fields, pageField{Name: name, Kind: kindOf(h.Schema), Description: h.Description})
	}
	return fields
}

// kindOf returns the type and the allowed values of a schema, with a link to the schema that it refers to.
func kindOf(s *huma.Schema) template.HTML {
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, decode.SchemaPrefix)
		if !isShown(name) {
			return template.HTML(name)
		}
		return template.HTML(`<a href="#schema-` + name + `">` + name + `</a>`)
	}
	kind := template.HTML(s.Type)
	if s.Type == huma.TypeArray {
		kind = "list of " + kindOf(s.Items)
	}
	if s.Nullable {
		kind += " or null"
	}
	for _, word := range constraintsOf(s) {
		kind += ", " + template.HTML(template.HTMLEscapeString(word))
	}
	return kind
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

// isShown reports whether the page describes a schema on its own. Bodies of requests are shown with their operations, and
// statuses in a table.
func isShown(schema string) bool {
	s := decode.Schemas.Map()[schema]
	return s != nil && s.Type == huma.TypeObject && !strings.HasSuffix(schema, "Request")
}
