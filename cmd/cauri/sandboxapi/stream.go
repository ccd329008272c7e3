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
	EntryReady = "ready" // everything that changes from here on is told
	EntryReset = "reset" // changes may be missing: read the lists after the next ready
)

// Entry is an entry of the stream of changes. It has the changed thing as the service read it.
type Entry struct {
	Type        string                `json:"type"`
	Transaction *wire.Payment         `json:"transaction,omitempty"`
	Event       *wire.EventSummary    `json:"event,omitempty"` // of an event and of an attempt
	Attempt     *wire.DeliveryAttempt `json:"attempt,omitempty"`
	Clock       *wire.Clock           `json:"clock,omitempty"`
}

// streamSilence is how long a stream may send nothing before it counts as lost. The API sends a heartbeat every 15 s.
const streamSilence = 45 * time.Second

// Stream calls tell for each entry of the stream of changes that has one of the types, until ctx ends, tell returns an
// error, or the connection is lost, for which it returns an [UnreachableError]. It begins after the entry whose id is
// in last, and updates last.
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
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // what is left out is no error of Cauri
		return c.refused(answer, text)
	}
	if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media != "text/event-stream" {
		return fmt.Errorf("the answer to GET /stream is not one of Cauri (%q): is another service at this address?", media)
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

// lost returns the error of a request whose connection ended, or which this program ended.
func lost(ctx, reading context.Context, err error) error {
	if ctx.Err() == nil && reading.Err() != nil {
		err = context.Cause(reading)
	}
	return unreachable(ctx, err)
}

// block is an event of the stream, which ends with an empty line: an entry, or a heartbeat without data.
type block struct {
	id    string
	hasID bool
	data  []byte
}

// add adds a line, by the standard of server-sent events. It ignores the field event, since the data have the type too.
func (b *block) add(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":")) // a comment has no name
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
