package webhooks

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"
)

// Callback is a message in an operator's own form. It is not signed.
type Callback struct {
	URL        string
	Method     string
	Header     http.Header
	Body       []byte
	PublicOnly bool      // it may go to public addresses only
	At         time.Time // by the clock of the database; zero: by the clock of the sender
}

// Call makes one attempt.
func (s *Sender) Call(ctx context.Context, c Callback) Result {
	began := s.now()
	if c.At.IsZero() {
		c.At = began
	}
	r := Result{StartedAt: c.At}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, c.Method, c.URL, bytes.NewReader(c.Body))
	if err != nil {
		r.Err = errors.New("the callback's URL cannot be read")
		return r
	}
	request.Header = c.Header.Clone()
	transport := s.transport
	if c.PublicOnly {
		transport = s.public
	}
	s.do(transport, request, &r)
	r.Duration = s.now().Sub(began)
	return r
}
