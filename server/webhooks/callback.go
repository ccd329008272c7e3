package webhooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"
)

// Callback is a message in an operator's own form. It is not signed. A header without User-Agent gets Cauri's.
type Callback struct {
	URL        string
	Method     string
	Header     http.Header
	Body       []byte
	Cuts       []int     // offsets in Body, in rising order: what is between them is sent piece by piece
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
	if len(c.Cuts) > 0 {
		request.GetBody = func() (io.ReadCloser, error) { return &pieces{body: c.Body, cuts: c.Cuts}, nil }
		request.Body, _ = request.GetBody()
	}
	request.Header = http.Header{"User-Agent": {s.callbackAgent}}
	maps.Copy(request.Header, c.Header)
	transport := s.transport
	if c.PublicOnly {
		transport = s.public
	}
	s.do(transport, request, &r)
	r.Duration = s.now().Sub(began)
	return r
}

// pause is between two pieces of a body, so that a receiver reads each on its own.
const pause = 30 * time.Millisecond

// pieces reads a body piece by piece. Package http sends each as it comes, since it does not know the type.
type pieces struct {
	body []byte
	cuts []int
	read int
}

func (p *pieces) Read(to []byte) (int, error) {
	if p.read == len(p.body) {
		return 0, io.EOF
	}
	end := len(p.body)
	if len(p.cuts) > 0 {
		end = p.cuts[0]
	}
	if p.read > 0 {
		time.Sleep(pause)
	}
	n := copy(to, p.body[p.read:end])
	if p.read += n; p.read == end && len(p.cuts) > 0 {
		p.cuts = p.cuts[1:]
	}
	return n, nil
}

func (*pieces) Close() error { return nil }
