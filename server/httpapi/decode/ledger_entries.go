package decode

import (
	"encoding/binary"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// PrefersCSV reports whether the header Accept has text/csv, and no higher quality for JSON.
func PrefersCSV(header http.Header) bool {
	csvQuality, jsonQuality := 0.0, 0.0
	for part := range strings.SplitSeq(strings.Join(header.Values("Accept"), ","), ",") {
		kind, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, given := parameters["q"]; given {
			quality, _ = strconv.ParseFloat(q, 64) // a quality that is not a number counts as 0
		}
		switch kind {
		case "text/csv":
			csvQuality = max(csvQuality, quality)
		case "application/json":
			jsonQuality = max(jsonQuality, quality)
		}
	}
	return csvQuality > 0 && csvQuality >= jsonQuality
}

// EntryQuery is the query of a list of entries.
type EntryQuery struct {
	Account proof.Account // the zero value is the first float
	After   int64         // number of the last entry before the page
	Limit   int
	Known   *payments.Known // what the sandbox knows

	cursor, before string
}

// EntryParameters has the parsers of the query's parameters.
var EntryParameters = Parameters[EntryQuery, wire.LedgerEntryList]{
	"limit":  func(q *EntryQuery, value string, _ int64) string { return limitUpTo(&q.Limit, value, wire.MaxEntries) },
	"cursor": func(q *EntryQuery, value string, _ int64) string { q.cursor = value; return "" },
	"before": func(q *EntryQuery, value string, _ int64) string { q.before = value; return "" },
	"after": func(q *EntryQuery, value string, _ int64) (problem string) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || strconv.FormatInt(n, 10) != value {
			return "must be the number of an entry, or 0"
		}
		q.After = n
		return ""
	},
	"currency": func(q *EntryQuery, value string, _ int64) string {
		q.Account.Currency = payments.Currency(value)
		if all := q.Known.Currencies(); !slices.Contains(all, q.Account.Currency) {
			return "must be one of " + join(all)
		}
		return ""
	},
	"msisdn": func(q *EntryQuery, value string, _ int64) string {
		q.Account.MSISDN = value
		if !payments.ValidMSISDN(value) {
			return "must be an E.164 number with its leading +, written as %2B in a URL"
		}
		return ""
	},
}

// ParseEntryQuery parses the query of a list of entries, as [Parameters.Read] does. Its error has the type [*wire.Error], and
// names every invalid parameter.
func ParseEntryQuery(header http.Header, raw string, sandbox *sandboxes.Sandbox) (EntryQuery, error) {
	tenant := sandbox.Tenant
	q := EntryQuery{Limit: wire.MaxLimit, Known: sandbox.Known}
	values, wrong := EntryParameters.Read(header, raw, tenant, &q)
	if values.Has("currency") && values.Has("msisdn") {
		wrong["msisdn"] = append(wrong["msisdn"], "is another account than currency: send one of them")
	}
	if len(wrong) == 0 && values.Has("cursor") {
		if problem := q.continueAt(tenant); problem != "" {
			wrong["cursor"] = append(wrong["cursor"], problem)
		}
	}
	if len(wrong) == 0 && values.Has("before") {
		if problem := q.endAt(tenant); problem != "" {
			wrong["before"] = append(wrong["before"], problem)
		}
	}
	if len(wrong) > 0 {
		return EntryQuery{}, view.InvalidParams(wrong)
	}
	return q, nil
}

// continueAt sets q.After from the query's cursor. It returns a problem for a cursor of another account.
func (q *EntryQuery) continueAt(tenant int64) (problem string) {
	var place *payments.ID
	if problem := entryCursors(q.Account).decode(&place, tenant, q.cursor); problem != "" {
		return problem
	}
	q.After = int64(binary.BigEndian.Uint64(place[:8]))
	return ""
}

// endAt sets q.After and q.Limit from the query's previousCursor, so that the page ends before its entry. The numbers of
// entries have no gaps. It returns a problem for a cursor of another account.
func (q *EntryQuery) endAt(tenant int64) (problem string) {
	var place *payments.ID
	if problem := entryCursors(q.Account).decodeBefore(&place, tenant, q.before); problem != "" {
		return problem
	}
	last := int64(binary.BigEndian.Uint64(place[:8])) - 1
	if last < 1 {
		return noPrevious
	}
	q.After = max(0, last-int64(q.Limit))
	q.Limit = int(last - q.After)
	return ""
}

// Previous returns the cursor of the page that ends before the entry with this number, for the query's account. The
// number is at least 2.
func (q *EntryQuery) Previous(tenant, number int64) string {
	return entryCursors(q.Account).Before(tenant, entryPlace(number))
}

// Cursor returns the cursor that follows the entry with this number, for the query's account.
func (q *EntryQuery) Cursor(tenant, number int64) string {
	return entryCursors(q.Account).After(tenant, entryPlace(number))
}

// entryPlace returns the number of an entry in the form of an id, for cursors.
func entryPlace(number int64) (place payments.ID) {
	binary.BigEndian.PutUint64(place[:8], uint64(number))
	return place
}

// entryCursors returns the cursors of the entries of one account.
func entryCursors(account proof.Account) cursors {
	return cursors("ledger_entries " + account.String())
}
