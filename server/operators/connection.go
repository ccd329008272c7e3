package operators

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

// maxAnswer bounds what is read of an operator's answer.
const maxAnswer = 64 << 10

// connection makes requests to an operator's API.
type connection struct{ Access }

func newConnection(a Access) connection {
	a.BaseURL = strings.TrimRight(a.BaseURL, "/")
	return connection{a}
}

// request is one request to an operator's API.
type request struct {
	method string
	path   string // escaped, with its leading slash
	header map[string]string
	body   any // sent as JSON; url.Values as a form; nil for none
}

// reply is what an operator's API answered.
type reply struct {
	code int // HTTP status
	body []byte
}

func (r reply) ok() bool { return r.code >= 200 && r.code < 300 }

// into reads an answer. Anything but a JSON object of the expected form is no answer of the operator's.
func (r reply) into(value any) error {
	if err := json.Unmarshal(r.body, value); err != nil {
		return fmt.Errorf("the operator answered %d with what cannot be read", r.code)
	}
	return nil
}

// failed is the error for an answer that is none of those that the operator is known for.
func (r reply) failed() error { return fmt.Errorf("the operator answered %d", r.code) }

// do makes a request, without credentials of its own.
func (c connection) do(ctx context.Context, r request) (reply, error) {
	made, err := c.make(ctx, r)
	if err != nil {
		return reply{}, err
	}
	response, err := c.HTTP.Do(made)
	if err != nil {
		return reply{}, unreached(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return reply{}, fmt.Errorf("the operator's answer broke off: %w", unreached(err))
	case len(body) > maxAnswer:
		return reply{}, errors.New("the operator's answer is too long")
	}
	return reply{response.StatusCode, body}, nil
}

func (c connection) make(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	kind := "application/json"
	switch content := r.body.(type) {
	case nil:
		kind = ""
	case url.Values:
		kind, body = "application/x-www-form-urlencoded", strings.NewReader(content.Encode())
	default:
		body = bytes.NewReader(encode(content))
	}
	made, err := http.NewRequestWithContext(ctx, r.method, c.BaseURL+r.path, body)
	if err != nil {
		return nil, ErrRefused{"the base URL of the operator's API cannot be read"}
	}
	made.Header.Set("Accept", "application/json")
	made.Header.Set("User-Agent", "Cauri-Operators")
	if kind != "" {
		made.Header.Set("Content-Type", kind)
	}
	for name, value := range r.header {
		made.Header.Set(name, value)
	}
	return made, nil
}

// authorized makes a request with a token. One that the operator does not take any more is replaced once.
func (c connection) authorized(ctx context.Context, r request, fetch fetchToken) (reply, error) {
	for range 2 {
		token, err := c.Tokens.get(ctx, c.Access, fetch)
		if err != nil {
			return reply{}, err
		}
		with := r
		with.header = map[string]string{"Authorization": "Bearer " + token}
		for name, value := range r.header {
			with.header[name] = value
		}
		answer, err := c.do(ctx, with)
		if err != nil || answer.code != http.StatusUnauthorized {
			return answer, err
		}
		c.Tokens.forget(c.Access, token)
	}
	return reply{}, ErrRefused{"the operator takes no token that it gives (401)"}
}

// unreached says why there is no answer, without the URL.
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

// seconds reads what an operator calls expires_in: a number, or a number in a text.
type seconds time.Duration

func (s *seconds) UnmarshalJSON(text []byte) error {
	var n int64
	if err := json.Unmarshal(bytes.Trim(text, `"`), &n); err != nil {
		return err
	}
	*s = seconds(min(max(n, 0), 24*60*60) * int64(time.Second))
	return nil
}
