package httpapi

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/streams"
)

const (
	// streamsOfProcess and streamsOfSandbox bound how many streams are open at a time in this process.
	streamsOfProcess = 1000
	streamsOfSandbox = 100
	// heartbeat is how often a stream tells that it is there.
	heartbeat = 15 * time.Second
	// streamCheck is how often it is looked whether the key of a stream still opens its sandbox.
	streamCheck = time.Second
	// streamWrite bounds how long a reader may take for what was written, at most streamChunk bytes.
	streamWrite = 15 * time.Second
	streamChunk = 64 << 10
	// streamBuffer is how many bytes of memory a stream keeps while nothing is told.
	streamBuffer = 4 << 10
)

// listener is who listens to a stream.
type listener struct {
	who     *service.Caller
	types   []string // that are told; nil: all
	stream  *streams.Stream
	release func()
	begun   bool   // it was told something, now or before: that is of no use after a reset
	reset   bool   // it was told that it begins anew, and is not ready again
	text    []byte // that is not sent yet
}

// close ends a listener's stream.
func (l *listener) close() {
	l.stream.Close()
	l.release()
}

// newStreams makes the streams of a server.
func (s *Server) newStreams() *streams.Streams {
	return streams.New(streams.Options{
		Source: s.ledger, Process: streamsOfProcess, Sandbox: streamsOfSandbox, Draining: s.draining, Encode: s.streamEntry,
		Ready: readyEntry,
	})
}

// readyEntry is the entry that says that a stream is ready.
func readyEntry(at ledger.Position) streams.Entry {
	text, _ := wire.StreamEntry{Type: wire.StreamReady}.AppendEvent(nil, &at) // plain data
	return streams.Entry{At: at, Type: wire.StreamReady, Text: text}
}

// streamEntry is what is told of a change.
func (s *Server) streamEntry(tenant int64, c *ledger.Change) (streams.Entry, error) {
	mode, declared := "", faults.Set(nil)
	if sandbox, known := s.directory.ByTenant(tenant); known {
		mode, declared = string(sandbox.ClockMode), sandbox.Faults
	}
	view := wire.StreamEntryOf(c, mode, declared)
	text, err := view.AppendEvent(nil, &c.Resume)
	return streams.Entry{At: c.At, Type: view.Type, Text: text}, err
}

// stream opens a stream of what changes in the sandbox. The middleware tells it, outside of all handlers, see [Server.identify].
func (s *Server) stream(_ http.ResponseWriter, r *http.Request) (answer, error) {
	who := callerOf(r)
	q, wrong := wire.ReadStreamQuery(r, who.Sandbox.Tenant)
	if len(wrong) > 0 {
		return answer{}, wire.InvalidParams(wrong)
	}
	release, reached := s.streams.Take(who.Sandbox.OrganizationID)
	if reached != nil {
		of := "This sandbox"
		if reached.Process {
			of = "This process of the API"
		}
		return answer{}, wire.TooManyStreams(of, reached.Streams)
	}
	l := &listener{
		who: who, types: q.Types, release: release, begun: q.After != nil, stream: s.streams.Follow(who.Sandbox.Tenant, q.After),
	}
	if err := l.stream.Marked(r.Context()); err != nil {
		l.close()
		return answer{}, err
	}
	return answer{status: http.StatusOK, listener: l}, nil
}

// tell sends a stream until its client goes away or does not read, its key does not open the sandbox any more, or the process is told to
// stop.
func (s *Server) tell(out *response, l *listener) {
	defer l.close()
	s.metrics.StreamOpened()
	defer s.metrics.StreamClosed()
	header := out.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a proxy that collects answers would hold back what is told
	out.WriteHeader(http.StatusOK)
	l.text = append(l.text, "retry: 1000\n\n"...)
	err := s.sendStream(out, l)
	if err == nil {
		err = s.follow(out, l)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.metrics.StreamCutOff()
	}
}

// follow tells what changes. It returns why the stream ends.
func (s *Server) follow(out *response, l *listener) error {
	ctx := out.request.Context()
	check := time.NewTicker(streamCheck)
	defer check.Stop()
	told := s.now()
	for {
		entries, err := l.stream.Next(ctx, check.C)
		switch {
		case errors.Is(err, ledger.ErrChangesLost), errors.Is(err, postgres.ErrConfigChanged):
			err = s.restart(ctx, out, l, check.C)
		case errors.Is(err, postgres.ErrUnavailable):
			err = waitFor(ctx, check.C) // the stream goes on when the database is there again
		}
		if err != nil {
			return err
		}
		if sandbox := s.sandboxOf(out.request, l.who.Key); sandbox == nil || sandbox.Suspended {
			return errKeyEnded
		}
		s.metrics.Told(l.add(entries))
		if now := s.now(); now.Sub(told) >= heartbeat {
			told = now
			l.beat()
		}
		if err := s.sendStream(out, l); err != nil {
			return err
		}
	}
}

// errKeyEnded ends a stream whose key does not open its sandbox any more, or whose sandbox is suspended.
var errKeyEnded = errors.New("the key of the stream opens no sandbox")

// add adds entries of the types that are told, and returns how many these are.
func (l *listener) add(entries []streams.Entry) (told int) {
	size := 0
	for _, entry := range entries {
		size += len(entry.Text)
	}
	l.text = slices.Grow(l.text, size)
	for _, entry := range entries {
		if entry.Type == wire.StreamReady {
			l.begun, l.reset = true, false
		} else if l.types != nil && !slices.Contains(l.types, entry.Type) {
			continue
		}
		l.text = append(l.text, entry.Text...)
		told++
	}
	return told
}

// beat adds a comment, with the id up to which everything was told: who knows it can go on from there, also after an hour without a
// change.
func (l *listener) beat() {
	if at, ready := l.stream.Position(); ready {
		l.text = wire.AppendStreamID(l.text, at)
	}
	l.text = append(l.text, ": heartbeat\n\n"...)
}

// restart begins a stream anew after a reset of its sandbox, or after a time of which nothing is known, and tells so once.
func (s *Server) restart(ctx context.Context, out *response, l *listener, wake <-chan time.Time) error {
	if l.reset { // again, before it was ready: the database is not there, or one reset follows another
		if err := waitFor(ctx, wake); err != nil {
			return err
		}
	} else if l.begun {
		text, err := wire.StreamEntry{Type: wire.StreamReset}.AppendEvent(l.text, nil)
		if err != nil {
			return err
		}
		l.text = text
	}
	l.reset = true
	if err := s.directory.Refresh(ctx); err != nil && !errors.Is(err, postgres.ErrUnavailable) {
		return err
	}
	sandbox := s.sandboxOf(out.request, l.who.Key)
	if sandbox == nil {
		return errKeyEnded
	}
	l.stream.Close()
	l.stream = s.streams.Follow(sandbox.Tenant, nil)
	return nil
}

// waitFor waits until wake has something to receive, and returns ctx's error if that ends before.
func waitFor(ctx context.Context, wake <-chan time.Time) error {
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sendStream writes what is to be sent.
func (s *Server) sendStream(out *response, l *listener) error {
	connection := http.NewResponseController(out.ResponseWriter)
	for text := l.text; len(text) > 0; {
		n := min(len(text), streamChunk)
		_ = connection.SetWriteDeadline(time.Now().Add(s.streamWrite)) // a connection that is closed has no deadlines
		if _, err := out.ResponseWriter.Write(text[:n]); err != nil {
			return err
		}
		if err := connection.Flush(); err != nil {
			return err
		}
		text = text[n:]
	}
	if l.text = l.text[:0]; cap(l.text) > streamBuffer {
		l.text = nil
	}
	return nil
}
