package httpapi

import (
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/streams"
)

// streamText encodes the entries of streams as server-sent events. It implements [httpfront.StreamText].
type streamText struct{ directory *sandboxes.Directory }

// NewStreamText returns the encoding of the streams of /v1.
func NewStreamText(directory *sandboxes.Directory) httpfront.StreamText { return streamText{directory} }

// Change returns the entry of a change.
func (t streamText) Change(tenant int64, c *ledger.Change) (streams.Entry, error) {
	mode, declared := "", faults.Set(nil)
	if sandbox, known := t.directory.ByTenant(tenant); known {
		mode, declared = string(sandbox.ClockMode), sandbox.Faults
	}
	changed := view.StreamEntryOf(c, mode, declared)
	text, err := view.AppendStreamEntry(nil, &changed, &c.Resume)
	entry := streams.Entry{At: c.At, Type: changed.Type, Text: text}
	switch {
	case c.Transaction != nil:
		entry.MSISDN = c.Transaction.MSISDN
	case c.Balance != nil:
		entry.MSISDN = c.Balance.MSISDN
	}
	return entry, err
}

// Ready returns the first entry of a stream. The parameter at is its position.
func (streamText) Ready(at ledger.Position) streams.Entry {
	text, _ := view.AppendStreamEntry(nil, &wire.StreamEntry{Type: wire.StreamReady}, &at) // encoding plain data does not fail
	return streams.Entry{At: at, Type: wire.StreamReady, Ready: true, Text: text}
}

// Reset appends the entry `reset`, which tells the client to read everything again.
func (streamText) Reset(text []byte) ([]byte, error) {
	return view.AppendStreamEntry(text, &wire.StreamEntry{Type: wire.StreamReset}, nil)
}

// Position appends a line with the id from which a client can resume.
func (streamText) Position(text []byte, at ledger.Position) []byte {
	return view.AppendStreamID(text, at)
}
