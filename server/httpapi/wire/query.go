package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/payments"
)

const (
	DefaultLimit = 20
	MaxLimit     = 100
)

// Parameters has a parser for each parameter of a query. The parser sets a field of q, or returns a problem of the
// value.
type Parameters[Q any] map[string]func(q *Q, value string, tenant int64) (problem string)

// Read parses a query into q. It returns an error for each invalid value, and ignores unknown parameters.
func (p Parameters[Q]) Read(raw string, tenant int64, q *Q) (url.Values, FieldErrors) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, p.unreadable(raw)
	}
	wrong := FieldErrors{}
	for name, given := range values {
		read, known := p[name]
		if !known {
			continue
		}
		if len(given) > 1 {
			wrong[name] = append(wrong[name], "is given more than once")
		} else if problem := read(q, given[0], tenant); problem != "" {
			wrong[name] = append(wrong[name], problem)
		}
	}
	if p["before"] != nil && values.Has("before") && values.Has("cursor") {
		wrong["before"] = append(wrong["before"], "is another page than cursor: send one of them")
	}
	return values, wrong
}

// unreadable returns an error for each parameter of a query whose percent-encoding is invalid.
func (p Parameters[Q]) unreadable(raw string) FieldErrors {
	wrong := FieldErrors{}
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

// InvalidParams returns a 400 error for a query with wrong parameters.
func InvalidParams(wrong FieldErrors) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_params",
		Message: "The query is invalid; detail.fieldErrors says which parameters and why.",
		Detail:  map[string]any{"fieldErrors": wrong}}
}

func limit(into *int, value string) (problem string) { return limitUpTo(into, value, MaxLimit) }

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

func country(into *payments.Country, value string) (problem string) {
	*into = payments.Country(value)
	if _, known := into.Currency(); !known {
		return "must be one of " + payments.List(payments.Countries)
	}
	return ""
}

func operator(into *payments.Operator, value string) (problem string) {
	*into = payments.Operator(value)
	if !into.Valid() {
		return "must be one of " + payments.List(payments.Operators)
	}
	return ""
}

// momentForm refuses texts that [time.Parse] accepts: numbers of one digit, a comma before the fraction, and offsets
// beyond 23:59.
var momentForm = regexp.MustCompile(`T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

func moment(into **time.Time, value string) (problem string) {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil || !momentForm.MatchString(value) {
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
