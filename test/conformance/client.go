package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// requestTimeout bounds one request. The slowest scenario holds its answer for 35 seconds.
	requestTimeout = 60 * time.Second
	// connections is how many stay open: as many as the largest burst has requests.
	connections = 64
)

// object is a JSON object. Its numbers are [json.Number], so that it is seen how they are written.
type object = map[string]any

// text is a request body that is sent as it is.
type text string

// stream is a text that is sent in chunks, so that its length is not announced.
type stream string

// request is one call of the API.
type request struct {
	method string
	path   string            // behind the version prefix, with the query
	base   string            // another URL that the path follows; empty: the sandbox's, with its version prefix
	body   any               // nil: none; a text as it is; anything else as JSON
	header map[string]string // beside the usual ones or in their place; an empty value leaves one out
}

// answer is what came back.
type answer struct {
	request request
	status  int
	header  http.Header
	body    []byte
}

// client calls the API of one sandbox.
type client struct {
	root string // the base URL as given
	base string // the same with the version prefix
	key  string
	http *http.Client
	see  func(answer) // is shown every answer
}

// newClient finds out under which prefix the API answers: /v1 on a public host, else /api/v1.
func newClient(ctx context.Context, root, key string, see func(answer)) (*client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = connections
	c := &client{root: root, key: key, see: see, http: &http.Client{
		Transport:     transport,
		Timeout:       requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	var tried []string
	for _, prefix := range []string{"/v1", "/api/v1"} {
		a, err := c.send(ctx, request{method: "GET", path: "/meta", base: root + prefix})
		if err != nil {
			return nil, err
		}
		if a.status == http.StatusOK {
			c.base = root + prefix
			return c, c.tryKey(ctx)
		}
		tried = append(tried, a.String())
	}
	return nil, fmt.Errorf("no API at %s: %s", root, strings.Join(tried, "; "))
}

// tryKey makes sure that the key is the sandbox's, without which every rule would fail.
func (c *client) tryKey(ctx context.Context) error {
	a, err := c.send(ctx, request{method: "GET", path: "/payments/TX_0"})
	if err == nil && a.status == http.StatusUnauthorized {
		err = fmt.Errorf("the sandbox refuses the key: %s", a)
	}
	return err
}

// send sends a request. Its error tells that no answer came.
func (c *client) send(ctx context.Context, r request) (answer, error) {
	native, err := c.prepare(ctx, r)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s cannot be sent: %w", r.method, r.path, err)
	}
	response, err := c.http.Do(native)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s was not answered: %w", r.method, r.path, outOfTime(ctx, err))
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, fmt.Errorf("the answer to %s %s broke off: %w", r.method, r.path, outOfTime(ctx, err))
	}
	r.path = strings.ReplaceAll(r.path, c.key, "<key>") // the answer may be shown
	a := answer{request: r, status: response.StatusCode, header: response.Header, body: body}
	c.see(a)
	return a, nil
}

func (c *client) prepare(ctx context.Context, r request) (*http.Request, error) {
	base := r.base
	if base == "" {
		base = c.base
	}
	body, err := encode(r.body)
	if err != nil {
		return nil, err
	}
	native, err := http.NewRequestWithContext(ctx, r.method, base+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if _, chunked := r.body.(stream); chunked {
		native.ContentLength = -1
	}
	native.Header.Set("Authorization", "Bearer "+c.key)
	if r.body != nil {
		native.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		native.Header.Del(name)
		if value != "" {
			native.Header.Set(name, value)
		}
	}
	return native, nil
}

func encode(body any) ([]byte, error) {
	switch body := body.(type) {
	case nil:
		return nil, nil
	case text:
		return []byte(body), nil
	case stream:
		return []byte(body), nil
	default:
		return json.Marshal(body)
	}
}

// outOfTime says so if what failed did because the run's time is over.
func outOfTime(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("the time of -timeout is over")
	}
	return err
}

// String describes the answer in a line.
func (a answer) String() string {
	return fmt.Sprintf("%s %s answered %d %s", a.request.method, shorten(a.request.path, 100), a.status, shorten(string(a.body), 240))
}

func shorten(s string, length int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if runes := []rune(s); len(runes) > length {
		return string(runes[:length]) + "..."
	}
	return s
}

// object returns the body, which must be one JSON object.
func (a answer) object() (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	var o object
	if err := decoder.Decode(&o); err != nil {
		return nil, fmt.Errorf("its body is no JSON object: %w", err)
	}
	if o == nil {
		return nil, errors.New("its body is null, and no JSON object")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("its body has something behind the JSON object")
	}
	return o, nil
}
