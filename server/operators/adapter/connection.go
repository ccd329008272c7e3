package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxAnswer is the maximum size of an operator's answer, in bytes.
const maxAnswer = 64 << 10

// Connection sends requests to an operator's API.
type Connection struct {
	Access
	RefusesToken func(Reply) bool // whether an answer says that the token is not valid
}

// NewConnection returns a connection.
func NewConnection(a Access) Connection {
	a.BaseURL = strings.TrimRight(a.BaseURL, "/")
	return Connection{Access: a, RefusesToken: func(r Reply) bool { return r.Code == http.StatusUnauthorized }}
}

// Request is one request to an operator's API.
type Request struct {
	Method string
	Path   string // escaped, with a leading slash
	Header map[string]string
	Body   any // url.Values are sent as a form, an XML as it is, anything else as JSON; nil for none
}

// XML is a body of a request.
type XML string

// Reply is an answer of an operator's API.
type Reply struct {
	Code int // HTTP status
	Body []byte
}

// OK reports whether the status is a 2xx.
func (r Reply) OK() bool { return r.Code >= 200 && r.Code < 300 }

// Decode decodes the body as JSON. It returns an error for an invalid body.
func (r Reply) Decode(value any) error {
	if err := json.Unmarshal(r.Body, value); err != nil {
		return fmt.Errorf("the operator answered %d with what cannot be read", r.Code)
	}
	return nil
}

// Unexpected returns the error for an unknown answer.
func (r Reply) Unexpected() error { return fmt.Errorf("the operator answered %d", r.Code) }

// Do sends a request without a token.
func (c Connection) Do(ctx context.Context, r Request) (Reply, error) {
	made, err := c.make(ctx, r)
	if err != nil {
		return Reply{}, err
	}
	response, err := c.HTTP.Do(made)
	if err != nil {
		return Reply{}, unreached(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Reply{}, fmt.Errorf("the operator's answer broke off: %w", unreached(err))
	case len(body) > maxAnswer:
		return Reply{}, errors.New("the operator's answer is too long")
	}
	return Reply{response.StatusCode, body}, nil
}

func (c Connection) make(ctx context.Context, r Request) (*http.Request, error) {
	var body io.Reader
	kind := "application/json"
	switch content := r.Body.(type) {
	case nil:
		kind = ""
	case url.Values:
		kind, body = "application/x-www-form-urlencoded", strings.NewReader(content.Encode())
	case XML:
		kind, body = "text/xml; charset=utf-8", strings.NewReader(string(content))
	default:
		body = bytes.NewReader(Encode(content))
	}
	made, err := http.NewRequestWithContext(ctx, r.Method, c.BaseURL+r.Path, body)
	if err != nil {
		return nil, ErrRefused{"the base URL of the operator's API cannot be read"}
	}
	made.Header.Set("Accept", "application/json")
	made.Header.Set("User-Agent", "Cauri-Operators")
	if kind != "" {
		made.Header.Set("Content-Type", kind)
	}
	for name, value := range r.Header {
		made.Header.Set(name, value)
	}
	return made, nil
}

// Authorized sends a request with a token. If the operator refuses the token, Authorized retries once with a new token.
func (c Connection) Authorized(ctx context.Context, r Request, fetch fetchToken) (Reply, error) {
	var answer Reply
	for range 2 {
		token, err := c.Tokens.get(ctx, c.Access, fetch)
		if err != nil {
			return Reply{}, err
		}
		with := r
		with.Header = map[string]string{"Authorization": "Bearer " + token}
		for name, value := range r.Header {
			with.Header[name] = value
		}
		answer, err = c.Do(ctx, with)
		if err != nil || !c.RefusesToken(answer) {
			return answer, err
		}
		c.Tokens.forget(c.Access, token)
	}
	return Reply{}, ErrRefused{fmt.Sprintf("the operator takes no token that it gives (%d)", answer.Code)}
}

// unreached returns the error for a request without an answer. The error does not contain the URL.
func unreached(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var timeout interface{ Timeout() bool }
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return errors.New("the operator did not answer in time")
	}
	return fmt.Errorf("the operator cannot be reached: %w", err)
}

// Seconds is the duration in the field expires_in of a token: a JSON number, or a string with a number. It is at most
// one day.
type Seconds time.Duration

func (s *Seconds) UnmarshalJSON(text []byte) error {
	var n int64
	if err := json.Unmarshal(bytes.Trim(text, `"`), &n); err != nil {
		return err
	}
	*s = Seconds(min(max(n, 0), 24*60*60) * int64(time.Second))
	return nil
}
