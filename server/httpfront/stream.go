package httpfront

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/streams"
)

const (
	// streamsOfProcess and streamsOfSandbox bound the number of open streams in this process.
	streamsOfProcess = 1000
	streamsOfSandbox = 100
	// heartbeat is the interval between two heartbeats of a stream.
	heartbeat = 15 * time.Second
	// streamCheck is the interval between checks whether the key of a stream still opens its sandbox.
	streamCheck = time.Second
	// streamChunk is the maximum number of bytes of one write.
	streamChunk = 64 << 10
	// streamBuffer is the maximum capacity of the buffer that a stream keeps between two writes.
	streamBuffer = 4 << 10
)

// StreamText encodes the entries of a front's streams.
type StreamText interface {
	// Change returns the entry of a change.
	Change(tenant int64, c *ledger.Change) (streams.Entry, error)
	// Ready returns the first entry of a stream. The stream has every change after this position.
	Ready(ledger.Position) streams.Entry
	// Reset appends the entry that tells the client to read everything again, because the stream starts over.
	Reset([]byte) ([]byte, error)
	// Position appends the position from which a client can resume.
	Position([]byte, ledger.Position) []byte
}

// Streams opens the streams of a front.
type Streams struct {
	hub  *streams.Streams
	text StreamText
}

// NewStreams returns the streams of a front.
func (x *Pipeline) NewStreams(source streams.Source, text StreamText) *Streams {
	return &Streams{streams.New(streams.Options{
		Source: source, Process: streamsOfProcess, Sandbox: streamsOfSandbox, Draining: x.draining, Encode: text.Change,
		Ready: text.Ready,
	}), text}
}

// ErrTooManyStreams is returned when the limit of open streams is reached.
type ErrTooManyStreams struct{ streams.Limit }

func (e ErrTooManyStreams) Error() string { return fmt.Sprintf("%d streams are open", e.Streams) }

// listener is one client's stream. It is the body of the answer that opens the stream.
type listener struct {
	streams *Streams
	who     *service.Caller
	options StreamOptions
	stream  *streams.Stream
	release func()
	begun   bool   // whether the client already has entries; if so, it gets the entry `reset` after a reset
	reset   bool   // whether the stream starts over, and the next entry `ready` was not sent yet
	text    []byte // encoded entries to send
}

// ContentType implements [Body].
func (l *listener) ContentType() string { return "text/event-stream; charset=utf-8" }

// Append implements [Body]. It appends nothing, because sendChanges writes the entries.
func (l *listener) Append(text []byte) ([]byte, error) { return text, nil }

// close ends a listener's stream.
func (l *listener) close() {
	l.stream.Close()
	l.release()
	l.options.end()
}

func (o *StreamOptions) end() {
	if o.Ended != nil {
		o.Ended()
	}
}

// StreamOptions are the options of a stream.
type StreamOptions struct {
	Types []string         // types of the entries to send; nil: all
	After *ledger.Position // position after which the stream begins; nil: from now on
	Brief bool             // whether entries have only their types
	// MSISDN limits the stream to the changes of the transactions and the balance of this number; empty: all changes.
	MSISDN string
	// By is the session of the console that opens the stream; zero: the API key.
	By streams.Session
	// Until ends the stream at the end of this context; nil: only the client, its key and the process end the stream.
	Until context.Context
	// Ended is called once, when the stream has ended or cannot be opened; may be nil.
	Ended func()
}

// Open opens a stream of the changes in a caller's sandbox. It returns [ErrTooManyStreams] if a limit is reached.
func (s *Streams) Open(ctx context.Context, who *service.Caller, o StreamOptions) (Answer, error) {
	release, reached := s.hub.Acquire(who.Sandbox.OrganizationID, o.By)
	if reached != nil {
		o.end()
		return Answer{}, ErrTooManyStreams{*reached}
	}
	l := &listener{
		streams: s, who: who, options: o, release: release, begun: o.After != nil,
		stream: s.hub.Follow(who.Sandbox.Tenant, o.After),
	}
	if err := l.stream.Marked(ctx); err != nil {
		l.close()
		return Answer{}, err
	}
	return Answer{Status: http.StatusOK, Body: l}, nil
}
