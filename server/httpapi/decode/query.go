package decode

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// maxParameters is the maximum number of parameters of a query. Each unknown one is compared with all known ones.
const maxParameters = 50

// Parameters has a parser for each parameter of the query of a list. The parser sets a field of q, or returns a problem
// of the value. A is the answer of the list.
type Parameters[Q, A any] map[string]func(q *Q, value string, tenant int64) (problem string)

// Read parses a query into q. It returns an error for each invalid value, and for each unknown parameter that was
// probably meant as a filter, because the list without the filter looks as if all of its rows matched. It ignores other
// unknown parameters, and names them in the header of the answer.
func (p Parameters[Q, A]) Read(header http.Header, raw string, tenant int64, q *Q) (url.Values, wire.FieldErrors) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, p.unreadable(raw)
	}
	wrong := wire.FieldErrors{}
	if len(values) > maxParameters {
		wrong["query"] = []string{fmt.Sprintf("has %d parameters: send %d at most", len(values), maxParameters)}
		return values, wrong
	}
	var ignored []string
	for name, given := range values {
		read, known := p[name]
		if !known {
			if problem := p.misspelled(name); problem != "" {
				wrong[name] = []string{problem}
			} else {
				ignored = append(ignored, name)
			}
		} else if len(given) > 1 {
			wrong[name] = append(wrong[name], "is given more than once")
		} else if problem := read(q, given[0], tenant); problem != "" {
			wrong[name] = append(wrong[name], problem)
		}
	}
	noteIgnored(header, ignored)
	if p["before"] != nil && values.Has("before") && values.Has("cursor") {
		wrong["before"] = append(wrong["before"], "is another page than cursor: send one of them")
	}
	return values, wrong
}

// misspelled returns the problem of an unknown parameter that was probably meant as a filter; "" for any other. Such a
// parameter is another spelling of a filter, a field of the answer, or differs from a filter by two letters at most.
func (p Parameters[Q, A]) misspelled(name string) (problem string) {
	known := slices.Sorted(maps.Keys(p))
	if right := sameSpelling(name, known); right != "" {
		return "is unknown: write " + right
	}
	switch sameSpelling(name, answerFields(reflect.TypeFor[A]())) {
	case "":
	case "nextCursor":
		return "is unknown: send it as cursor"
	case "previousCursor":
		return "is unknown: send it as before"
	default:
		if len(known) == 0 {
			return "is a field of the answer, and this list has no filters: leave it out"
		}
		return "is a field of the answer, and no filter: write one of " + join(known)
	}
	if right := nearest(name, known); right != "" {
		return "is unknown: write " + right
	}
	return ""
}

// unreadable returns an error for each parameter of a query whose percent-encoding is invalid.
func (p Parameters[Q, A]) unreadable(raw string) wire.FieldErrors {
	wrong := wire.FieldErrors{}
	for pair := range strings.SplitSeq(raw, "&") {
		if _, err := url.ParseQuery(pair); err != nil {
			name, _, _ := strings.Cut(pair, "=")
			if _, known := p[name]; !known {
				name = "query"
			}
			wrong[name] = []string{"cannot be read; encode it like a URL's query"}
		}
	}
	return wrong
}

func limit(into *int, value string) (problem string) { return limitUpTo(into, value, wire.MaxLimit) }

func limitUpTo(into *int, value string, most int) (problem string) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != value {
		return fmt.Sprintf("must be a number from 1 to %d", most)
	}
	*into = n
	return ""
}

func text(into *string, value string, longest int) (problem string) {
	*into = value
	if n := utf8.RuneCountInString(value); n < 1 || n > longest || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return fmt.Sprintf("must have 1 to %d characters", longest)
	}
	return ""
}

func country(known *payments.Known, into *payments.Country, value string) (problem string) {
	*into = payments.Country(value)
	if all := known.Countries(); !slices.Contains(all, *into) {
		return "must be one of " + payments.List(all)
	}
	return ""
}

func operator(known *payments.Known, into *payments.Operator, value string) (problem string) {
	*into = payments.Operator(value)
	if all := known.Operators(); !slices.Contains(all, *into) {
		return "must be one of " + payments.List(all)
	}
	return ""
}

func moment(into **time.Time, value string) (problem string) {
	at, ok := payments.ParseTime(value)
	if !ok {
		return "must be a time like 2026-05-31T12:00:00Z (RFC 3339); a + in it is written as %2B in a URL"
	}
	*into = &at
	return ""
}

func join[T ~string](values []T) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, string(v))
	}
	return strings.Join(texts, ", ")
}
