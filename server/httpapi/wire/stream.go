package wire

import (
	"regexp"
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
	StreamFaults      = "faults"
)

// StreamTypes are the types that a client can select. The other types, ready and reset, are always sent.
var StreamTypes = []string{StreamTransaction, StreamEvent, StreamAttempt, StreamClock, StreamBalance, StreamFaults}

// StreamEntry is the data of an entry of GET /v1/stream.
type StreamEntry struct {
	Type        string           `json:"type" enum:"ready,reset,transaction,event,attempt,clock,balance,faults" doc:"ready: from here on nothing is missed. reset: read the lists again, after the ready that follows. The others: what has changed, as it is now. There may be more types later."`
	Transaction *Payment         `json:"transaction,omitempty" doc:"As in GET /v1/payments/{id}."`
	Event       *EventSummary    `json:"event,omitempty" doc:"As in GET /v1/events. Of an attempt too."`
	Resent      bool             `json:"resent,omitempty" doc:"true: somebody asked to send the event again. Of an event that is no operator.callback."`
	Attempt     *DeliveryAttempt `json:"attempt,omitempty" doc:"As in GET /v1/events/{id}."`
	Clock       *Clock           `json:"clock,omitempty" doc:"As in GET /v1/clock."`
	Balance     *StreamBalanceOf `json:"balance,omitempty" doc:"Of a float, or of a test client."`
	Faults      *FaultList       `json:"faults,omitempty" doc:"As in GET /v1/faults."`
}

// StreamBalanceOf is the balance of a float or of a test client.
type StreamBalanceOf struct {
	MSISDN   string `json:"msisdn,omitempty" doc:"Of the test client. Absent for a float."`
	Currency string `json:"currency"`
	Balance  int64  `json:"balance" doc:"In whole units of the currency."`
}

// LastEventIDHeader is the request header with the id of the entry after which a stream resumes.
const LastEventIDHeader = "Last-Event-ID"

// StreamIDForm is the format of an entry's id.
var StreamIDForm = regexp.MustCompile(`^(0|[1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})$`)
