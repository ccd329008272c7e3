package exchange

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
	// streamsOfProcess and streamsOfSandbox bound how many streams are open at a time in this process.
	streamsOfProcess = 1000
	streamsOfSandbox = 100
	// heartbeat is how often a stream sends a comment.
	heartbeat = 15 * time.Second
	// streamCheck is how often it is looked whether the key of a stream still opens its sandbox.
	streamCheck = time.Second
	// streamChunk is how many bytes are written at once.
	streamChunk = 64 << 10
	// streamBuffer is how many bytes of memory a stream keeps while nothing is sent.
	streamBuffer = 4 << 10
)

// StreamText is how a front writes the entries of its streams.
type StreamText interface {
	// Change is the entry of a change.
	Change(tenant int64, c *ledger.Change) (streams.Entry, error)
	// Ready is the first entry of a stream: nothing after this position is missed.
	Ready(ledger.Position) streams.Entry
	// Reset appends the entry that says that the stream begins anew.
	Reset([]byte) ([]byte, error)
	// Position appends from where a client can resume.
	Position([]byte, ledger.Position) []byte
}

// Streams opens the streams of a front.
type Streams struct {
	hub  *streams.Streams
	text StreamText
}

// NewStreams makes the streams of a front.
func (x *Exchange) NewStreams(source streams.Source, text StreamText) *Streams {
	return &Streams{streams.New(streams.Options{
		Source: source, Process: streamsOfProcess, Sandbox: streamsOfSandbox, Draining: x.draining, Encode: text.Change,
		Ready: text.Ready,
	}), text}
}

// ErrTooManyStreams is returned when as many streams are open as may be.
type ErrTooManyStreams struct{ streams.Limit }

func (e ErrTooManyStreams) Error() string { return fmt.Sprintf("%d streams are open", e.Streams) }

// listener is who listens to a stream. It is the body of the answer that opens the stream.
type listener struct {
	streams *Streams
	who     *service.Caller
	types   []string // that are sent; nil: all
	stream  *streams.Stream
	release func()
	begun   bool   // something was sent, now or before: that is of no use after a reset
	reset   bool   // the entry reset was sent, and the stream is not ready again
	text    []byte // that is not sent yet
}

// ContentType implements [Body].
func (l *listener) ContentType() string { return "text/event-stream; charset=utf-8" }

// Append implements [Body]. A stream is written while it lasts, see [Exchange.stream].
func (l *listener) Append(text []byte) ([]byte, error) { return text, nil }

// close ends a listener's stream.
func (l *listener) close() {
	l.stream.Close()
	l.release()
}

// Open opens a stream of what changes in a caller's sandbox, from a position on, or from now on if it is nil. types are
// those of the entries that are sent; nil: all. It returns [ErrTooManyStreams].
func (s *Streams) Open(
	ctx context.Context, who *service.Caller, types []string, after *ledger.Position,
) (Answer, error) {
	release, reached := s.hub.Take(who.Sandbox.OrganizationID)
	if reached != nil {
		return Answer{}, ErrTooManyStreams{*reached}
	}
	l := &listener{
		streams: s, who: who, types: types, release: release, begun: after != nil,
		stream: s.hub.Follow(who.Sandbox.Tenant, after),
	}
	if err := l.stream.Marked(ctx); err != nil {
		l.close()
		return Answer{}, err
	}
	return Answer{Status: http.StatusOK, Body: l}, nil
}
