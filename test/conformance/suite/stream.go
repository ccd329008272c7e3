package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// Listening is an open stream of a sandbox's changes.
type Listening struct {
	check   *Check
	entries chan StreamEntry
	close   context.CancelFunc
}

// StreamEntry is an entry of a stream.
type StreamEntry struct {
	ID, Event string
	Data      Object
}

// Listen opens a stream with a query, after the id of an earlier one if that is not empty. It has to be closed.
func (c *Check) Listen(query, after string) *Listening {
	ctx, cancel := context.WithTimeout(c.ctx, requestTimeout)
	native, err := c.Client.prepare(ctx, Request{Method: "GET", Path: "/stream" + query, Header: map[string]string{"Last-Event-ID": after}})
	if err != nil {
		cancel()
		c.Fail("the stream cannot be asked for: %v", err)
	}
	response, err := c.Client.http.Do(native)
	if err != nil {
		cancel()
		c.Fail("the stream was not answered: %v", err)
	}
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		_ = response.Body.Close()
		cancel()
		c.Fail("the stream was answered %d with %s, want 200 with text/event-stream", response.StatusCode, kind)
	}
	l := &Listening{check: c, entries: make(chan StreamEntry, 1000), close: cancel}
	go func() {
		defer close(l.entries)
		defer func() { _ = response.Body.Close() }()
		lines := bufio.NewReader(response.Body)
		for entry := (StreamEntry{}); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch {
			case name == "id":
				entry.ID = value
			case name == "event":
				entry.Event = value
			case name == "data":
				decoder := json.NewDecoder(bytes.NewReader([]byte(value)))
				decoder.UseNumber()
				_ = decoder.Decode(&entry.Data)
			case line == "\n" && entry.Data != nil:
				select {
				case l.entries <- entry:
				case <-ctx.Done():
					return
				}
				entry = StreamEntry{}
			}
		}
	}()
	return l
}

// Close ends the stream.
func (l *Listening) Close() { l.close() }

// Next waits for the next entry. If the stream ends before, the check does too.
func (l *Listening) Next() StreamEntry {
	entry, open := <-l.entries
	if !open {
		l.check.Fail("the stream has ended, or told nothing for %s", requestTimeout)
	}
	return entry
}

// Until reads entries until one fulfills a condition.
func (l *Listening) Until(so func(StreamEntry) bool) StreamEntry {
	for {
		if entry := l.Next(); so(entry) {
			return entry
		}
	}
}
