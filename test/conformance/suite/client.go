package suite

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
	// requestTimeout limits one request. The slowest scenario delays its answer by 35 seconds.
	requestTimeout = 60 * time.Second
	// connections is the number of idle connections: the number of requests in the largest burst.
	connections = 64
	// overloadedFor is how long an overloaded service may refuse a request.
	overloadedFor = time.Minute
)

// Object is a JSON object. Its numbers are [json.Number], to preserve their notation.
type Object = map[string]any

// Text is a request body that is sent unchanged.
type Text string

// Stream is a text that is sent in chunks, without a Content-Length.
type Stream string

// Request is one call of the API.
type Request struct {
	Method string
	Path   string            // after the version prefix, with the query
	Base   string            // a URL to use as base; empty: the sandbox's, with its version prefix
	Body   any               // nil: no body; a text is sent unchanged; anything else is sent as JSON
	Header map[string]string // override the default headers; an empty value removes one
	// Foreign is a call of an operator's own API: the rules about all answers do not hold for it.
	Foreign bool
}

// Answer is the answer to a request.
type Answer struct {
	Request Request
	Status  int
	Header  http.Header
	Body    []byte
}

// client calls the API of one sandbox.
type client struct {
	Root string // the base URL as given
	base string // the same with the version prefix
	Key  string
	http *http.Client
	see  func(Answer) // called with every answer
}

// newClient detects the prefix of the API: /v1 on a public host, otherwise /api/v1.
func newClient(ctx context.Context, root, key string, see func(Answer)) (*client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = connections
	c := &client{Root: root, Key: key, see: see, http: &http.Client{
		Transport:     transport,
		Timeout:       requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	var tried []string
	for _, prefix := range []string{"/v1", "/api/v1"} {
		a, err := c.send(ctx, Request{Method: "GET", Path: "/meta", Base: root + prefix})
		if err != nil {
			return nil, err
		}
		if a.Status == http.StatusOK {
			c.base = root + prefix
			return c, c.tryKey(ctx)
		}
		tried = append(tried, a.String())
	}
	return nil, fmt.Errorf("no API at %s: %s", root, strings.Join(tried, "; "))
}

// tryKey checks that the key belongs to the sandbox. Every rule would fail otherwise.
func (c *client) tryKey(ctx context.Context) error {
	a, err := c.send(ctx, Request{Method: "GET", Path: "/payments/TX_0"})
	if err == nil && a.Status == http.StatusUnauthorized {
		err = fmt.Errorf("the sandbox refuses the key: %s", a)
	}
	return err
}

// send sends a request, and again while the service is overloaded, as the answer asks for. An error means that no answer
// came.
func (c *client) send(ctx context.Context, r Request) (Answer, error) {
	for begun := time.Now(); ; {
		a, err := c.sendOnce(ctx, r)
		if err == nil && a.overloaded() && time.Since(begun) < overloadedFor {
			select {
			case <-time.After(time.Second): // Retry-After
				continue
			case <-ctx.Done():
			}
		}
		if err == nil && !r.Foreign {
			c.see(a)
		}
		return a, err
	}
}

func (c *client) sendOnce(ctx context.Context, r Request) (Answer, error) {
	native, err := c.prepare(ctx, r)
	if err != nil {
		return Answer{}, fmt.Errorf("%s %s cannot be sent: %w", r.Method, r.Path, err)
	}
	response, err := c.http.Do(native)
	if err != nil {
		return Answer{}, fmt.Errorf("%s %s was not answered: %w", r.Method, r.Path, outOfTime(ctx, err))
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("the answer to %s %s broke off: %w", r.Method, r.Path, outOfTime(ctx, err))
	}
	r.Path = strings.ReplaceAll(r.Path, c.Key, "<key>") // the report may show the answer
	return Answer{Request: r, Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

func (c *client) prepare(ctx context.Context, r Request) (*http.Request, error) {
	base := r.Base
	if base == "" {
		base = c.base
	}
	body, err := encode(r.Body)
	if err != nil {
		return nil, err
	}
	native, err := http.NewRequestWithContext(ctx, r.Method, base+r.Path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if _, chunked := r.Body.(Stream); chunked {
		native.ContentLength = -1
	}
	native.Header.Set("Authorization", "Bearer "+c.Key)
	if r.Body != nil {
		native.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.Header {
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
	case Text:
		return []byte(body), nil
	case Stream:
		return []byte(body), nil
	default:
		return json.Marshal(body)
	}
}

// overloaded reports whether the service recorded nothing, because too many requests waited for its database. A fault of
// the sandbox may send the same answer.
func (a Answer) overloaded() bool {
	o, err := a.Object()
	return err == nil && a.Status == http.StatusServiceUnavailable && o["error"] == "overloaded" && a.Header.Get("X-Cauri-Fault") == ""
}

// outOfTime adds the timeout to an error if the time of the run has ended.
func outOfTime(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("the time of -timeout is over")
	}
	return err
}

// String describes the answer in one line.
func (a Answer) String() string {
	return fmt.Sprintf("%s %s answered %d %s", a.Request.Method, shorten(a.Request.Path, 100), a.Status, shorten(string(a.Body), 240))
}

func shorten(s string, length int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if runes := []rune(s); len(runes) > length {
		return string(runes[:length]) + "..."
	}
	return s
}

// Object returns the body, which must be one JSON object.
func (a Answer) Object() (Object, error) {
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	decoder.UseNumber()
	var o Object
	if err := decoder.Decode(&o); err != nil {
		return nil, fmt.Errorf("its body is not a JSON object: %w", err)
	}
	if o == nil {
		return nil, errors.New("its body is null, not a JSON object")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("its body has more content after the JSON object")
	}
	return o, nil
}
