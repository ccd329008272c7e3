package view

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/service"
)

// StreamEntryOf returns the view of a change. The parameter clockMode is the mode of the sandbox's clock. The parameter
// declared has the sandbox's faults.
func StreamEntryOf(c *ledger.Change, clockMode string, declared faults.Set) wire.StreamEntry {
	switch {
	case c.Transaction != nil:
		return wire.StreamEntry{Type: wire.StreamTransaction, Transaction: new(PaymentOf(c.Transaction, declared))}
	case c.Attempt != nil:
		return wire.StreamEntry{
			Type: wire.StreamAttempt, Event: new(EventSummaryOf(c.Event, declared)), Attempt: new(deliveryAttemptOf(c.Attempt, declared)),
		}
	case c.Event != nil:
		return wire.StreamEntry{Type: wire.StreamEvent, Event: new(EventSummaryOf(c.Event, declared)), Resent: c.Resent}
	case c.Clock != nil:
		return wire.StreamEntry{Type: wire.StreamClock, Clock: new(ClockOf(clockMode, c.Clock))}
	case c.Faults != nil:
		return wire.StreamEntry{Type: wire.StreamFaults, Faults: new(FaultListOf(service.FaultStates(c.Faults, declared)))}
	}
	b := c.Balance
	of := &wire.StreamBalanceOf{MSISDN: b.MSISDN, Currency: b.Currency, Balance: b.Balance}
	return wire.StreamEntry{Type: wire.StreamBalance, Balance: of}
}

// AppendStreamEntry appends an entry to b as a server-sent event. The position becomes the id of the server-sent event; nil
// for no id.
func AppendStreamEntry(b []byte, e *wire.StreamEntry, position *ledger.Position) ([]byte, error) {
	if position != nil {
		b = AppendStreamID(b, *position)
	}
	b = append(append(append(b, "event: "...), e.Type...), "\ndata: "...)
	b, err := wire.Append(b, e)
	return append(b, '\n'), err
}

// AppendStreamID appends the line with the id of an entry to b.
func AppendStreamID(b []byte, at ledger.Position) []byte {
	b = strconv.AppendInt(append(b, "id: "...), at.Xact, 10)
	b = strconv.AppendInt(append(b, '-'), at.Seq, 10)
	return append(b, '\n')
}

// TooManyStreams is 429 for a stream beyond a limit. The message names who has that many streams:
// the sandbox or the process.
func TooManyStreams(who string, limit int) *wire.Error {
	return &wire.Error{Status: http.StatusTooManyRequests, Code: "too_many_streams", RetryAfter: "10", Detail: map[string]any{"limit": limit},
		Message: fmt.Sprintf("%s has %d open streams already, as many as there may be. Close one, or try again later.", who, limit)}
}
