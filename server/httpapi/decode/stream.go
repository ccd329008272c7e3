package decode

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
)

// StreamQuery is the query of a request for a stream.
type StreamQuery struct {
	Types []string         // nil: all
	After *ledger.Position // nil: from now on
}

// StreamParameters has the parsers of the query's parameters.
var StreamParameters = Parameters[StreamQuery, wire.StreamEntry]{
	"types": func(q *StreamQuery, value string, _ int64) string {
		q.Types = strings.Split(value, ",")
		for _, name := range q.Types {
			if !slices.Contains(wire.StreamTypes, name) {
				return "must be some of " + join(wire.StreamTypes) + ", with commas between them"
			}
		}
		return ""
	},
}

// ReadStreamQuery reads the query, as [Parameters.Read] does, and the header Last-Event-ID of a request for a stream.
func ReadStreamQuery(header http.Header, r *http.Request, tenant int64) (StreamQuery, wire.FieldErrors) {
	var q StreamQuery
	_, wrong := StreamParameters.Read(header, r.URL.RawQuery, tenant, &q)
	if last := r.Header.Get(wire.LastEventIDHeader); last != "" {
		parts := wire.StreamIDForm.FindStringSubmatch(last)
		if parts == nil {
			wrong[wire.LastEventIDHeader] = []string{"must be the id of an entry of this stream, like 748812-17; leave the header out to begin from now"}
			return q, wrong
		}
		q.After = &ledger.Position{}
		q.After.Xact, _ = strconv.ParseInt(parts[1], 10, 64) // at most 18 digits, so there is no error
		q.After.Seq, _ = strconv.ParseInt(parts[2], 10, 64)
	}
	return q, wrong
}
