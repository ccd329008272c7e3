package wire

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
)

// Types of the entries of a stream.
const (
	StreamReady       = "ready"
	StreamReset       = "reset"
	StreamTransaction = "transaction"
	StreamEvent       = "event"
	StreamAttempt     = "attempt"
	StreamClock       = "clock"
	StreamBalance     = "balance"
)

// StreamTypes are the types that a client can select. The other types, ready and reset, are always sent.
var StreamTypes = []string{StreamTransaction, StreamEvent, StreamAttempt, StreamClock, StreamBalance}

// StreamEntry is the data of an entry of GET /v1/stream.
type StreamEntry struct {
	Type        string           `json:"type" enum:"ready,reset,transaction,event,attempt,clock,balance" doc:"ready: from here on nothing is missed. reset: read the lists again, after the ready that follows. The others: what has changed, as it is now. There may be more types later."`
	Transaction *Payment         `json:"transaction,omitempty" doc:"As in GET /v1/payments/{id}."`
	Event       *EventSummary    `json:"event,omitempty" doc:"As in GET /v1/events. Of an attempt too."`
	Attempt     *DeliveryAttempt `json:"attempt,omitempty" doc:"As in GET /v1/events/{id}."`
	Clock       *Clock           `json:"clock,omitempty" doc:"As in GET /v1/clock."`
	Balance     *StreamBalanceOf `json:"balance,omitempty" doc:"Of a float, or of a test client."`
}

// StreamBalanceOf is the balance of a float or of a test client.
type StreamBalanceOf struct {
	MSISDN   string `json:"msisdn,omitempty" doc:"Of the test client. Absent for a float."`
	Currency string `json:"currency"`
	Balance  int64  `json:"balance" doc:"In whole units of the currency."`
}

// StreamEntryOf returns the view of a change. The parameter clockMode is the mode of the sandbox's clock. The parameter
// declared has the sandbox's faults.
func StreamEntryOf(c *ledger.Change, clockMode string, declared faults.Set) StreamEntry {
	switch {
	case c.Transaction != nil:
		return StreamEntry{Type: StreamTransaction, Transaction: new(PaymentOf(c.Transaction, declared))}
	case c.Attempt != nil:
		return StreamEntry{
			Type: StreamAttempt, Event: new(EventSummaryOf(c.Event, declared)), Attempt: new(deliveryAttemptOf(c.Attempt, declared)),
		}
	case c.Event != nil:
		return StreamEntry{Type: StreamEvent, Event: new(EventSummaryOf(c.Event, declared))}
	case c.Clock != nil:
		return StreamEntry{Type: StreamClock, Clock: new(ClockOf(clockMode, c.Clock))}
	}
	b := c.Balance
	return StreamEntry{Type: StreamBalance, Balance: &StreamBalanceOf{MSISDN: b.MSISDN, Currency: b.Currency, Balance: b.Balance}}
}

// AppendStreamEntry appends an entry to b as a server-sent event. The position becomes the id of the server-sent event; nil
// for no id.
func AppendStreamEntry(b []byte, e *StreamEntry, position *ledger.Position) ([]byte, error) {
	if position != nil {
		b = AppendStreamID(b, *position)
	}
	b = append(append(append(b, "event: "...), e.Type...), "\ndata: "...)
	b, err := Append(b, e)
	return append(b, '\n'), err
}

// AppendStreamID appends the line with the id of an entry to b.
func AppendStreamID(b []byte, at ledger.Position) []byte {
	b = strconv.AppendInt(append(b, "id: "...), at.Xact, 10)
	b = strconv.AppendInt(append(b, '-'), at.Seq, 10)
	return append(b, '\n')
}

// LastEventIDHeader is the request header with the id of the entry after which a stream resumes.
const LastEventIDHeader = "Last-Event-ID"

// StreamIDForm is the format of an entry's id.
var StreamIDForm = regexp.MustCompile(`^(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})$`)

// StreamQuery is the query of a request for a stream.
type StreamQuery struct {
	Types []string         // nil: all
	After *ledger.Position // nil: from now on
}

// StreamParameters has the parsers of the query's parameters.
var StreamParameters = Parameters[StreamQuery, StreamEntry]{
	"types": func(q *StreamQuery, value string, _ int64) string {
		q.Types = strings.Split(value, ",")
		for _, name := range q.Types {
			if !slices.Contains(StreamTypes, name) {
				return "must be some of " + join(StreamTypes) + ", with commas between them"
			}
		}
		return ""
	},
}

// ReadStreamQuery reads the query, as [Parameters.Read] does, and the header Last-Event-ID of a request for a stream.
func ReadStreamQuery(header http.Header, r *http.Request, tenant int64) (StreamQuery, FieldErrors) {
	var q StreamQuery
	_, wrong := StreamParameters.Read(header, r.URL.RawQuery, tenant, &q)
	if last := r.Header.Get(LastEventIDHeader); last != "" {
		parts := StreamIDForm.FindStringSubmatch(last)
		if parts == nil {
			wrong[LastEventIDHeader] = []string{"must be the id of an entry of this stream, like 748812-17; leave the header out to begin from now"}
			return q, wrong
		}
		q.After = &ledger.Position{}
		q.After.Xact, _ = strconv.ParseInt(parts[1], 10, 64) // at most 18 digits, so there is no error
		q.After.Seq, _ = strconv.ParseInt(parts[2], 10, 64)
	}
	return q, wrong
}

// TooManyStreams is 429 for a stream beyond a limit. The message names who has that many streams:
// the sandbox or the process.
func TooManyStreams(who string, limit int) *Error {
	return &Error{Status: http.StatusTooManyRequests, Code: "too_many_streams", RetryAfter: "10", Detail: map[string]any{"limit": limit},
		Message: fmt.Sprintf("%s has %d open streams already, as many as there may be. Close one, or try again later.", who, limit)}
}
