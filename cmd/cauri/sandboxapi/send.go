package sandboxapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Request is a request as its author wrote it.
type Request struct {
	Method string
	// Path is one of /v1, such as /payments or /v1/payments, or another path of the sandbox, such as
	// one below /operators. It may have a query.
	Path string
	// Header has the values of headers. A header without a value is not sent, also if [Client.Send] would add it.
	Header http.Header
	Body   []byte
}

// otherPaths matches the paths of a sandbox that are not those of /v1.
var otherPaths = regexp.MustCompile(`^/(operators|docs|console|llms(-full)?\.txt)([/?]|$)`)

// resolve returns the URL of a path, and whether it belongs to /v1, whose requests need the key of the sandbox.
func (c *Client) resolve(path string) (at string, keyed bool) {
	root := strings.TrimSuffix(c.base, "/api/v1")
	if otherPaths.MatchString(path) {
		return root + path, false
	}
	path = strings.TrimPrefix(path, "/api")
	if path != "/v1" && !strings.HasPrefix(path, "/v1/") {
		path = "/v1" + path
	}
	return root + "/api" + path, true
}

// Send sends a request once, and calls the function read with the answer, whatever its status is. It follows no
// redirect. It adds the key of the sandbox to a request of /v1 without Authorization, and a Content-Type to a body of
// JSON. Its error is an [UnreachableError] if there is no answer, also within read.
func (c *Client) Send(ctx context.Context, r Request, read func(*http.Response) error) error {
	reading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	request, err := c.written(reading, r)
	if err != nil {
		return err
	}
	silence := time.AfterFunc(c.patience, func() { stop(fmt.Errorf("no answer for %s", c.patience)) })
	defer silence.Stop()
	once := *c.client
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := once.Do(request)
	if err != nil {
		return lost(ctx, reading, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media == "text/event-stream" {
		silence.Stop() // it lasts as long as somebody reads it
	}
	answer.Body = answerBody{answer.Body, func(err error) error { return lost(ctx, reading, err) }}
	return read(answer)
}

func (c *Client) written(ctx context.Context, r Request) (*http.Request, error) {
	at, keyed := c.resolve(r.Path)
	request, err := http.NewRequestWithContext(ctx, r.Method, at, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header = c.own()
	if !keyed {
		request.Header.Del("Authorization")
	}
	if text := bytes.TrimSpace(r.Body); json.Valid(text) || bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("[")) {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, values := range r.Header {
		request.Header.Del(name)
		for _, value := range values {
			if value != "" {
				request.Header.Add(name, value)
			}
		}
	}
	request.Host = request.Header.Get("Host") // net/http takes it from there
	return request, nil
}

// answerBody is the body of an answer. The function lost returns the error for one that ends early.
type answerBody struct {
	io.ReadCloser
	lost func(error) error
}

// Read implements [io.Reader].
func (b answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.lost(err)
	}
	return n, err
}
