package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

const (
	defaultLimit = 20
	maxLimit     = 100
)

// listView is the answer of GET /v1/payments.
type listView struct {
	Data       []paymentView `json:"data" doc:"Newest first."`
	NextCursor *string       `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool          `json:"hasMore"`
}

func (s *Server) listPayments(_ http.ResponseWriter, r *http.Request) (answer, error) {
	tenant := sessionOf(r).sandbox.Tenant
	q, err := parseListQuery(r.URL.RawQuery, tenant)
	if err != nil {
		return answer{}, err
	}
	found, err := s.store.ListTransactions(r.Context(), tenant, q.filter, q.after, q.limit+1)
	if err != nil {
		return answer{}, err
	}
	page := listView{Data: []paymentView{}, HasMore: len(found) > q.limit}
	for _, t := range found[:min(len(found), q.limit)] {
		page.Data = append(page.Data, viewOf(t))
	}
	if page.HasMore {
		cursor := cursorAfter(tenant, found[q.limit-1].ID)
		page.NextCursor = &cursor
	}
	return answer{status: http.StatusOK, body: page}, nil
}

// listQuery is what a list is asked for.
type listQuery struct {
	filter store.Filter
	after  *payments.ID
	limit  int
}

// parseListQuery reads the query of a list. A value that cannot be meant is refused, never corrected or left out; its error,
// of type [*Error], names every one. Parameters that are not known are ignored.
func parseListQuery(raw string, tenant int64) (listQuery, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return listQuery{}, invalidParams(unreadable(raw))
	}
	q := listQuery{limit: defaultLimit}
	wrong := fieldErrors{}
	for name, given := range values {
		read, known := listParameters[name]
		if !known {
			continue
		}
		if len(given) > 1 {
			wrong[name] = append(wrong[name], "is given more than once")
		} else if problem := read(&q, given[0], tenant); problem != "" {
			wrong[name] = append(wrong[name], problem)
		}
	}
	if values.Has("order") && values.Has("order_ref") && values.Get("order") != values.Get("order_ref") {
		wrong["order"] = append(wrong["order"], "differs from order_ref, which means the same: send one of them")
	}
	if len(wrong) > 0 {
		return listQuery{}, invalidParams(wrong)
	}
	return q, nil
}

// unreadable names the parameters of a query that are not encoded as they have to be.
func unreadable(raw string) fieldErrors {
	wrong := fieldErrors{}
	for pair := range strings.SplitSeq(raw, "&") {
		if _, err := url.ParseQuery(pair); err != nil {
			name, _, _ := strings.Cut(pair, "=")
			if _, known := listParameters[name]; !known {
				name = "query"
			}
			wrong[name] = []string{"cannot be read; encode it like a URL's query"}
		}
	}
	return wrong
}

func invalidParams(wrong fieldErrors) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_params",
		Message: "The query is invalid; detail.fieldErrors says which parameters and why.",
		Detail:  map[string]any{"fieldErrors": wrong}}
}

// listParameters reads each parameter into a query and returns what is wrong with it.
var listParameters = map[string]func(q *listQuery, value string, tenant int64) (problem string){
	"limit": func(q *listQuery, value string, _ int64) string {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxLimit || strconv.Itoa(n) != value {
			return fmt.Sprintf("has to be a number from 1 to %d", maxLimit)
		}
		q.limit = n
		return ""
	},
	"cursor": func(q *listQuery, value string, tenant int64) string {
		id, err := parseCursor(tenant, value)
		if err != nil {
			return "is not one that this list gave: send a nextCursor as it was, or none"
		}
		q.after = &id
		return ""
	},
	"country": func(q *listQuery, value string, _ int64) string {
		q.filter.Country = payments.Country(value)
		if _, known := q.filter.Country.Currency(); !known {
			return "has to be one of CI, RW, BJ, TG"
		}
		return ""
	},
	"operator": func(q *listQuery, value string, _ int64) string {
		q.filter.Operator = payments.Operator(value)
		if !q.filter.Operator.Valid() {
			return "has to be one of mtn, orange, moov, airtel"
		}
		return ""
	},
	"status": func(q *listQuery, value string, _ int64) string {
		q.filter.Status = payments.Status(value)
		if !slices.Contains(payments.Statuses, q.filter.Status) {
			return "has to be one of " + join(payments.Statuses)
		}
		return ""
	},
	"type": func(q *listQuery, value string, _ int64) string {
		q.filter.Type = payments.Type(value)
		if !slices.Contains(payments.Types, q.filter.Type) {
			return "has to be one of " + join(payments.Types)
		}
		return ""
	},
	"order_ref":   func(q *listQuery, value string, _ int64) string { return text(&q.filter.OrderRef, value, 120) },
	"order":       func(q *listQuery, value string, _ int64) string { return text(&q.filter.OrderRef, value, 120) },
	"application": func(q *listQuery, value string, _ int64) string { return text(&q.filter.Store, value, 80) },
	"reference":   func(q *listQuery, value string, _ int64) string { return text(&q.filter.Reference, value, 80) },
	"msisdn": func(q *listQuery, value string, _ int64) string {
		q.filter.MSISDN = value
		if !payments.ValidMSISDN(value) {
			return "has to be an E.164 number with its leading +, written as %2B in a URL"
		}
		return ""
	},
	"created_after":  func(q *listQuery, value string, _ int64) string { return moment(&q.filter.CreatedAfter, value) },
	"created_before": func(q *listQuery, value string, _ int64) string { return moment(&q.filter.CreatedBefore, value) },
}

func text(into *string, value string, longest int) (problem string) {
	*into = value
	if n := utf8.RuneCountInString(value); n < 1 || n > longest || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return fmt.Sprintf("has to have 1 to %d characters", longest)
	}
	return ""
}

// momentForm is what time.Parse does not insist on: two digits of each number, a point before fractions, an offset that exists.
var momentForm = regexp.MustCompile(`T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

func moment(into **time.Time, value string) (problem string) {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil || !momentForm.MatchString(value) {
		return "has to be a time like 2026-05-31T12:00:00Z (RFC 3339); a + in it is written as %2B in a URL"
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

// errBadCursor is returned for a cursor that this API did not give, or not to this sandbox.
var errBadCursor = errors.New("not a cursor")

const cursorSum = 8

// cursorAfter names the place after a transaction in a tenant's list. It carries a checksum, so that one that was changed is
// refused rather than taken for another place; it is no secret, since every query is bound to the tenant anyway.
func cursorAfter(tenant int64, id payments.ID) string {
	return base64.RawURLEncoding.EncodeToString(append(id[:], checksum(tenant, id)...))
}

func parseCursor(tenant int64, text string) (payments.ID, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != len(payments.ID{})+cursorSum {
		return payments.ID{}, errBadCursor
	}
	id := payments.ID(raw[:len(payments.ID{})])
	if cursorAfter(tenant, id) != text { // to the letter: the decoder lets some differences pass
		return payments.ID{}, errBadCursor
	}
	return id, nil
}

func checksum(tenant int64, id payments.ID) []byte {
	message := binary.BigEndian.AppendUint64([]byte("cursor"), uint64(tenant))
	sum := sha256.Sum256(append(message, id[:]...))
	return sum[:cursorSum]
}
