package system

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// StreamEntry is what a stream told.
type StreamEntry struct {
	Type        string             `json:"type"`
	Transaction *StreamTransaction `json:"transaction"`
	Event       *StreamEvent       `json:"event"`
	Attempt     *struct {
		Number int `json:"number"`
	} `json:"attempt"`
}

// StreamTransaction is what a stream told of a transaction.
type StreamTransaction struct {
	Transaction
	CreatedAt time.Time `json:"createdAt"`
}

// StreamEvent is what a stream told of an event.
type StreamEvent struct {
	ID           string `json:"id"`
	TxID         string `json:"txId"`
	State        string `json:"state"`
	AttemptCount int    `json:"attemptCount"`
}

// Stream reads a stream of the sandbox, after the id of an earlier one if that is not empty, until it ends. It returns the last id.
func (c *Client) Stream(ctx context.Context, after string, told func(StreamEntry)) (last string, err error) {
	base := c.bases[c.turn.Add(1)%uint64(len(c.bases))]
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/stream", nil)
	if err != nil {
		return after, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return after, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return after, fmt.Errorf("the stream was answered %d %s", answer.StatusCode, text)
	}
	return readStream(answer.Body, after, told)
}

// readStream tells the entries that are complete: what was cut off within one is told again.
func readStream(from io.Reader, after string, told func(StreamEntry)) (last string, err error) {
	last = after
	id, data := "", ""
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return last, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if line != "\n" {
				break // a comment
			}
			if data != "" {
				var entry StreamEntry
				if err := json.Unmarshal([]byte(data), &entry); err != nil {
					return last, fmt.Errorf("the stream told %q: %w", data, err)
				}
				told(entry)
			}
			if id != "" {
				last = id
			}
			data = ""
		}
	}
}
