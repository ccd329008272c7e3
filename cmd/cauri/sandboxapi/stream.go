package sandboxapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// The types of the entries about the stream itself.
const (
	EntryReady = "ready" // the stream has all later changes
	EntryReset = "reset" // changes may be missing; the client must read the lists after the next EntryReady
)

// Entry is an entry of the stream of changes. It has the state of the changed object.
type Entry struct {
	Type        string                `json:"type"`
	Transaction *wire.Payment         `json:"transaction,omitempty"`
	Event       *wire.EventSummary    `json:"event,omitempty"`  // set for changes of events and for attempts
	Resent      bool                  `json:"resent,omitempty"` // whether the event is to be sent again
	Attempt     *wire.DeliveryAttempt `json:"attempt,omitempty"`
	Clock       *wire.Clock           `json:"clock,omitempty"`
	Faults      *wire.FaultList       `json:"faults,omitempty"`
}

// streamSilence is the time without data after which a stream counts as lost. The API sends a heartbeat every 15 s.
const streamSilence = 45 * time.Second

// Stream opens the stream of changes, and calls the function tell for each entry of one of these types. It ends when
// ctx ends, when tell returns an error, or with an [UnreachableError] when the connection is lost. It resumes after the
// entry with the id *last, and updates *last.
func (c *Client) Stream(ctx context.Context, types []string, last *string, tell func(Entry) error) error {
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	request, err := c.request(reading, http.MethodGet, "/stream?"+url.Values{"types": {strings.Join(types, ",")}}.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	if *last != "" {
		request.Header.Set("Last-Event-ID", *last)
	}
	silence := time.AfterFunc(streamSilence, func() { stop(fmt.Errorf("it sent nothing for %s", streamSilence)) })
	defer silence.Stop()
	answer, err := c.client.Do(request)
	if err != nil {
		return lost(ctx, reading, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // a longer answer is not from Cauri
		return c.refused(answer, text)
	}
	if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media != "text/event-stream" {
		return &ForeignError{fmt.Errorf("the answer to GET /stream is not one of Cauri (%q): is another service at this address?", media)}
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxAnswer)
	var b block
	for lines.Scan() {
		silence.Reset(streamSilence)
		if len(lines.Bytes()) > 0 {
			b.add(lines.Bytes())
			continue
		}
		if len(b.data) > 0 {
			var e Entry
			if err := json.Unmarshal(b.data, &e); err != nil {
				return fmt.Errorf("the stream has an entry that this program does not understand, %.100q: update it: %w", b.data, err)
			}
			if err := tell(e); err != nil {
				return err
			}
		}
		if b.hasID {
			*last = b.id
		}
		b = block{data: b.data[:0]}
	}
	err = lines.Err()
	if err == nil {
		err = errors.New("the stream ended")
	}
	return lost(ctx, reading, err)
}

// lost returns the error of a stream that ended: the error of ctx, or an [UnreachableError].
func lost(ctx, reading context.Context, err error) error {
	if ctx.Err() == nil && reading.Err() != nil {
		err = context.Cause(reading)
	}
	return unreachable(ctx, err)
}

// block is a server-sent event of the stream. It is an entry, or a heartbeat without data. An empty line ends it.
type block struct {
	id    string
	hasID bool
	data  []byte
}

// add parses a line of a server-sent event. It ignores the field event, because the data also has the type.
func (b *block) add(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":")) // the name of a comment is empty
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		b.id, b.hasID = string(value), true
	case "data":
		if len(b.data) > 0 {
			b.data = append(b.data, '\n')
		}
		b.data = append(b.data, value...)
	}
}
