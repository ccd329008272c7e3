package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// fieldErrors has messages about arguments by their names.
type fieldErrors map[string][]string

func (e fieldErrors) add(name, format string, args ...any) {
	e[name] = append(e[name], fmt.Sprintf(format, args...))
}

// checker are arguments with rules beyond those of their types.
type checker interface{ check(wrong fieldErrors) }

// decode reads the arguments of a call into a struct. A null or empty argument counts as one that is left out. It returns
// a [*failure] that names every wrong argument.
func decode(text json.RawMessage, into any) error {
	sent, err := object(text)
	if err != nil {
		return err
	}
	target, wrong := reflect.ValueOf(into).Elem(), fieldErrors{}
	var known []string
	for _, f := range fieldsOf(target.Type()) {
		known = append(known, f.name)
		value := bytes.TrimSpace(sent[f.name])
		if len(value) == 0 || string(value) == "null" || string(value) == `""` {
			if f.required {
				wrong.add(f.name, "is required: send %s", f.wanted())
			}
			continue
		}
		if problem := f.set(target.FieldByIndex(f.Index), value); problem != "" {
			wrong.add(f.name, "%s", problem)
		}
	}
	for name := range sent {
		if slices.Contains(known, name) {
			continue
		}
		if near := nearest(name, known); near != "" {
			wrong.add(name, "is unknown: did you mean %s?", near)
		} else {
			wrong.add(name, "is unknown: %s", listed(known, "this tool takes no arguments", "the arguments are"))
		}
	}
	if c, has := into.(checker); has && len(wrong) == 0 {
		c.check(wrong)
	}
	return invalid(wrong)
}

func object(text json.RawMessage) (map[string]json.RawMessage, error) {
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var sent map[string]json.RawMessage
	if json.Unmarshal(text, &sent) != nil {
		return nil, &failure{Code: codeArguments, Message: `The arguments are no JSON object: send one such as {"limit": 20}.`}
	}
	return sent, nil
}

// listed returns names as the end of a sentence.
func listed(names []string, none, some string) string {
	if len(names) == 0 {
		return none
	}
	return some + " " + strings.Join(names, ", ")
}

// invalid returns the failure for wrong arguments; nil for none.
func invalid(wrong fieldErrors) error {
	if len(wrong) == 0 {
		return nil
	}
	return &failure{Code: codeArguments, Message: ended("Arguments are wrong: " + wrong.sentence()), Fields: wrong}
}

func (e fieldErrors) sentence() string {
	var all []string
	for name, problems := range e {
		all = append(all, name+" "+strings.Join(problems, "; "))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// set sets a field to a value of JSON. It returns what is wrong with the value, and what to write.
func (f *field) set(target reflect.Value, value []byte) (problem string) {
	kind := f.Type
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	decoded := reflect.New(kind)
	if json.Unmarshal(value, decoded.Interface()) != nil {
		return f.wrongKind(kind, value)
	}
	if kind.Kind() == reflect.String && f.values() != nil && !slices.Contains(f.values(), decoded.Elem().String()) {
		text := fmt.Sprintf("is %q: write one of %s", decoded.Elem().String(), strings.Join(f.values(), ", "))
		if near := nearest(decoded.Elem().String(), f.values()); near != "" {
			text += "; did you mean " + near + "?"
		}
		return text
	}
	if decoded.Elem().CanInt() {
		n := decoded.Elem().Int()
		least, most := int64(math.MinInt64), int64(math.MaxInt64)
		if bound, given := f.bound("minimum"); given {
			least = bound
		}
		if bound, given := f.bound("maximum"); given {
			most = bound
		}
		if n < least || n > most {
			return fmt.Sprintf("is %d: write %s", n, f.wanted())
		}
	}
	if f.Type.Kind() == reflect.Pointer {
		target.Set(decoded)
	} else {
		target.Set(decoded.Elem())
	}
	return ""
}

// wrongKind says that a value has another type than its field. A number that is written as a text is the usual case.
func (f *field) wrongKind(kind reflect.Type, value []byte) string {
	var text string
	if json.Unmarshal(value, &text) == nil && (kind.Kind() == reflect.Int64 || kind.Kind() == reflect.Int || kind.Kind() == reflect.Bool) {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil || text == "true" || text == "false" {
			return fmt.Sprintf("is the text %q: write %s without quotes", text, text)
		}
	}
	return fmt.Sprintf("is %s: send %s", kindOf(value), f.wanted())
}

// kindOf says what a value of JSON is.
func kindOf(value []byte) string {
	switch value[0] {
	case '"':
		return "a text"
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 't', 'f':
		return string(value)
	}
	return "the number " + string(value)
}

// wanted returns what to send for a field, in words.
func (f *field) wanted() string {
	kind := f.Type
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch {
	case f.values() != nil:
		return "one of " + strings.Join(f.values(), ", ")
	case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.String:
		return "a list of texts"
	case kind.Kind() == reflect.Slice:
		return "a list"
	case kind.Kind() == reflect.Map, kind.Kind() == reflect.Struct:
		return "an object"
	case kind.Kind() == reflect.Bool:
		return "true or false"
	case kind.Kind() == reflect.String:
		if example := f.Tag.Get("example"); example != "" {
			return "a text such as " + example
		}
		return "a text"
	}
	least, _ := f.bound("minimum")
	if most, given := f.bound("maximum"); given {
		return fmt.Sprintf("a whole number from %d to %d", least, most)
	}
	return fmt.Sprintf("a whole number, %d or more", least)
}

// nearest returns the known name that a misspelled one probably means; "" for none. Capitals, hyphens and underscores do
// not count.
func nearest(name string, known []string) (found string) {
	if len(name) > 64 {
		return ""
	}
	best := 3
	for _, k := range known {
		a, b := spelling(name), spelling(k)
		if n := distance(a, b); a != "" && n < best && n < max(len(a), len(b)) {
			found, best = k, n
		}
	}
	return found
}

func spelling(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// distance returns how many letters have to be added, left out or replaced to get from one name to the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
