package suite

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

// Matcher matches a value of which only some properties are known. It returns the problem with the value.
type Matcher func(got any, present bool) (problem string)

// Compare returns the differences between an object and its wanted fields. A wanted value is a text, an integer, a
// boolean, nil for null, an object with a subset of the fields, or a [Matcher].
func Compare(path string, got, want Object) []string {
	var problems []string
	for _, field := range slices.Sorted(maps.Keys(want)) {
		value, present := got[field]
		problems = append(problems, compareValue(path+field, value, present, want[field])...)
	}
	return problems
}

func compareValue(path string, got any, present bool, want any) []string {
	switch want := want.(type) {
	case Matcher:
		if problem := want(got, present); problem != "" {
			return []string{path + " " + problem}
		}
		return nil
	case Object:
		inner, isObject := got.(Object)
		if !isObject {
			return []string{fmt.Sprintf("%s is %s, want an object", path, Show(got, present))}
		}
		return Compare(path+".", inner, want)
	default:
		if !present || Show(got, true) != Show(want, true) {
			return []string{fmt.Sprintf("%s is %s, want %s", path, Show(got, present), Show(want, true))}
		}
		return nil
	}
}

// Show writes a value as JSON.
func Show(value any, present bool) string {
	if !present {
		return "not there"
	}
	written, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return shorten(string(written), 200)
}

// Expecting makes a matcher from a condition on an existing value.
func Expecting(wanted string, holds func(any) bool) Matcher {
	return func(got any, present bool) string {
		if present && holds(got) {
			return ""
		}
		return fmt.Sprintf("is %s, want %s", Show(got, present), wanted)
	}
}

// Absent matches if the field does not exist.
var Absent Matcher = func(got any, present bool) string {
	if !present {
		return ""
	}
	return fmt.Sprintf("is %s, want no such field", Show(got, present))
}

// AbsentOr matches a missing field. Otherwise it applies the other matcher.
func AbsentOr(other Matcher) Matcher {
	return func(got any, present bool) string {
		if !present {
			return ""
		}
		return other(got, present)
	}
}

// NullOr matches null. Otherwise it applies the other matcher.
func NullOr(other Matcher) Matcher {
	return func(got any, present bool) string {
		if present && got == nil {
			return ""
		}
		return other(got, present)
	}
}

var (
	AnyText    = Expecting("a text that is not empty", func(v any) bool { s, ok := v.(string); return ok && s != "" })
	AnyInteger = Expecting("an integer", func(v any) bool { _, ok := IntegerOf(v); return ok })
	AnyBoolean = Expecting("a boolean", func(v any) bool { _, ok := v.(bool); return ok })
	AnyObject  = Expecting("an object", func(v any) bool { _, ok := v.(Object); return ok })
	Timestamp  = Expecting("a time in ISO 8601", func(v any) bool { _, ok := TimeOf(v); return ok })
)

// Matching matches a text with a regular expression.
func Matching(form string) Matcher {
	pattern := regexp.MustCompile(form)
	return Expecting("a text like "+form, func(v any) bool {
		s, ok := v.(string)
		return ok && pattern.MatchString(s)
	})
}

// OneOf matches one of some texts.
func OneOf(texts ...string) Matcher {
	return Expecting("one of "+strings.Join(texts, ", "), func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(texts, s)
	})
}

// OtherThan matches a text that is not empty and differs from the given one.
func OtherThan(unwanted string) Matcher {
	return Expecting("a text other than "+unwanted, func(v any) bool {
		s, ok := v.(string)
		return ok && s != "" && s != unwanted
	})
}

// Between matches an integer within bounds.
func Between(low, high int64) Matcher {
	return Expecting(fmt.Sprintf("an integer from %d to %d", low, high), func(v any) bool {
		n, ok := IntegerOf(v)
		return ok && low <= n && n <= high
	})
}

// IntegerOf parses a number that is written as an integer.
func IntegerOf(value any) (int64, bool) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(number.String(), 10, 64)
	return n, err == nil
}

func TimeOf(value any) (time.Time, bool) {
	s, _ := value.(string)
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// TextOf returns the text of a field, or an empty text.
func TextOf(o Object, field string) string {
	s, _ := o[field].(string)
	return s
}
