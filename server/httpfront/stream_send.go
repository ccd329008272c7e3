package httpfront

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/streams"
)

// stream sends a stream until the client disconnects or stops reading, its key no longer opens the sandbox, or the
// process is told to stop.
func (x *Pipeline) stream(c *call, l *listener) {
	defer l.close()
	x.metrics.StreamOpened()
	defer x.metrics.StreamClosed()
	header := c.out.Header()
	header.Set("Content-Type", l.ContentType())
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // tells proxies such as nginx not to buffer the stream
	c.out.WriteHeader(http.StatusOK)
	if isHead(c.request) {
		return
	}
	l.text = append(l.text, "retry: 1000\n\n"...)
	err := x.sendStream(&c.out, l)
	if err == nil {
		err = x.sendChanges(c, l)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		x.metrics.StreamCutOff()
	}
}

// sendChanges sends each change as soon as it is read. It returns the reason why the stream ends.
func (x *Pipeline) sendChanges(c *call, l *listener) error {
	ctx := c.request.Context()
	if until := l.options.Until; until != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(until, cancel)()
	}
	check := time.NewTicker(streamCheck)
	defer check.Stop()
	beaten := x.now()
	for {
		entries, err := l.stream.Next(ctx, check.C)
		switch {
		case errors.Is(err, ledger.ErrChangesLost), errors.Is(err, postgres.ErrConfigChanged):
			err = x.restart(ctx, c, l, check.C)
		case errors.Is(err, postgres.ErrUnavailable):
			err = waitFor(ctx, check.C) // the stream resumes when the database is available
		}
		if err != nil {
			return err
		}
		if sandbox := x.sandboxOf(c.request, l.who.Key); sandbox == nil || sandbox.Suspended {
			return errKeyEnded
		}
		x.metrics.Told(l.add(entries))
		if now := x.now(); now.Sub(beaten) >= heartbeat {
			beaten = now
			l.appendHeartbeat()
		}
		if err := x.sendStream(&c.out, l); err != nil {
			return err
		}
	}
}

// errKeyEnded ends a stream whose key no longer opens its sandbox, or whose sandbox is suspended.
var errKeyEnded = errors.New("the key of the stream opens no sandbox")

// add appends the entries of the client's types to l.text, and returns their number.
func (l *listener) add(entries []streams.Entry) (sent int) {
	size := 0
	for _, entry := range entries {
		size += len(entry.Text)
	}
	l.text = slices.Grow(l.text, size)
	for _, entry := range entries {
		if entry.Ready {
			l.begun, l.reset = true, false
		} else if types := l.options.Types; types != nil && !slices.Contains(types, entry.Type) {
			continue
		} else if l.options.MSISDN != "" && entry.MSISDN != l.options.MSISDN {
			continue
		}
		if l.options.Brief {
			l.text = fmt.Appendf(l.text, "event: change\ndata: %s\n\n", entry.Type)
		} else {
			l.text = append(l.text, entry.Text...)
		}
		sent++
	}
	return sent
}

// appendHeartbeat appends a heartbeat with the current position, so that a client can resume from it after a long time without
// changes.
func (l *listener) appendHeartbeat() {
	if at, ready := l.stream.Position(); ready {
		l.text = l.streams.text.Position(l.text, at)
	}
	l.text = append(l.text, ": heartbeat\n\n"...)
}

// restart follows the sandbox again, after a reset or after the loss of changes that the stream has not sent. Until the
// stream is ready again, it sends only one `reset` entry.
func (x *Pipeline) restart(ctx context.Context, c *call, l *listener, wake <-chan time.Time) error {
	if l.reset { // restarted before the stream was ready: the database is unavailable, or resets repeat
		if err := waitFor(ctx, wake); err != nil {
			return err
		}
	} else if l.begun {
		text, err := l.streams.text.Reset(l.text)
		if err != nil {
			return err
		}
		l.text = text
	}
	l.reset = true
	if err := x.directory.Refresh(ctx); err != nil && !errors.Is(err, postgres.ErrUnavailable) {
		return err
	}
	sandbox := x.sandboxOf(c.request, l.who.Key)
	if sandbox == nil {
		return errKeyEnded
	}
	l.stream.Close()
	l.stream = l.streams.hub.Follow(sandbox.Tenant, nil)
	return nil
}

// waitFor waits until it receives from wake. If ctx ends first, it returns the error of ctx.
func waitFor(ctx context.Context, wake <-chan time.Time) error {
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sendStream writes the text of a listener in chunks, and clears it.
func (x *Pipeline) sendStream(out *response, l *listener) error {
	connection := http.NewResponseController(out.ResponseWriter)
	for text := l.text; len(text) > 0; {
		n := min(len(text), streamChunk)
		_ = connection.SetWriteDeadline(time.Now().Add(x.streamWrite)) // an error means that the connection is closed
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
