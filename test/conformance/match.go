package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// matcher is a wanted value of which only some properties are known. It returns what is wrong with the value.
type matcher func(got any, present bool) (problem string)

// compare returns what is different in an object from what is wanted of it. A wanted value is a text, an integer, a
// boolean, nil for null, an object for one that has at least these fields, or a [matcher].
func compare(path string, got, want object) []string {
	var problems []string
	for _, field := range slices.Sorted(maps.Keys(want)) {
		value, present := got[field]
		problems = append(problems, compareValue(path+field, value, present, want[field])...)
	}
	return problems
}

func compareValue(path string, got any, present bool, want any) []string {
	switch want := want.(type) {
	case matcher:
		if problem := want(got, present); problem != "" {
			return []string{path + " " + problem}
		}
		return nil
	case object:
		inner, isObject := got.(object)
		if !isObject {
			return []string{fmt.Sprintf("%s is %s, want an object", path, show(got, present))}
		}
		return compare(path+".", inner, want)
	default:
		if !present || show(got, true) != show(want, true) {
			return []string{fmt.Sprintf("%s is %s, want %s", path, show(got, present), show(want, true))}
		}
		return nil
	}
}

// show writes a value as JSON.
func show(value any, present bool) string {
	if !present {
		return "not there"
	}
	written, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return shorten(string(written), 200)
}

// expecting makes a matcher of a condition on a value that is there.
func expecting(wanted string, holds func(any) bool) matcher {
	return func(got any, present bool) string {
		if present && holds(got) {
			return ""
		}
		return fmt.Sprintf("is %s, want %s", show(got, present), wanted)
	}
}

// absent wants that there is no such field.
var absent matcher = func(got any, present bool) string {
	if !present {
		return ""
	}
	return fmt.Sprintf("is %s, want no such field", show(got, present))
}

// absentOr takes a field that is missing, and else wants what the other matcher does.
func absentOr(other matcher) matcher {
	return func(got any, present bool) string {
		if !present {
			return ""
		}
		return other(got, present)
	}
}

// nullOr takes null, and else wants what the other matcher does.
func nullOr(other matcher) matcher {
	return func(got any, present bool) string {
		if present && got == nil {
			return ""
		}
		return other(got, present)
	}
}

var (
	anyText    = expecting("a text that is not empty", func(v any) bool { s, ok := v.(string); return ok && s != "" })
	anyInteger = expecting("an integer", func(v any) bool { _, ok := integerOf(v); return ok })
	anyBoolean = expecting("a boolean", func(v any) bool { _, ok := v.(bool); return ok })
	anyObject  = expecting("an object", func(v any) bool { _, ok := v.(object); return ok })
	timestamp  = expecting("a time in ISO 8601", func(v any) bool { _, ok := timeOf(v); return ok })
)

// matching wants a text of a form.
func matching(form string) matcher {
	pattern := regexp.MustCompile(form)
	return expecting("a text like "+form, func(v any) bool {
		s, ok := v.(string)
		return ok && pattern.MatchString(s)
	})
}

// oneOf wants one of some texts.
func oneOf(texts ...string) matcher {
	return expecting("one of "+strings.Join(texts, ", "), func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(texts, s)
	})
}

// otherThan wants a text that is neither empty nor the one given.
func otherThan(unwanted string) matcher {
	return expecting("a text other than "+unwanted, func(v any) bool {
		s, ok := v.(string)
		return ok && s != "" && s != unwanted
	})
}

// between wants an integer within bounds.
func between(low, high int64) matcher {
	return expecting(fmt.Sprintf("an integer from %d to %d", low, high), func(v any) bool {
		n, ok := integerOf(v)
		return ok && low <= n && n <= high
	})
}

// integerOf takes a number that is written as an integer.
func integerOf(value any) (int64, bool) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(number.String(), 10, 64)
	return n, err == nil
}

func timeOf(value any) (time.Time, bool) {
	s, _ := value.(string)
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// textOf returns a field's text, or an empty one.
func textOf(o object, field string) string {
	s, _ := o[field].(string)
	return s
}
