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
	Copies     int       // how many are sent at the same moment; 0: one
	PublicOnly bool      // it may go to public addresses only
	At         time.Time // by the clock of the database; zero: by the clock of the sender
}

// Call makes one attempt. If several copies are sent, the result is that of the copy that answered last.
func (s *Sender) Call(ctx context.Context, c Callback) Result {
	if c.At.IsZero() {
		c.At = s.now()
	}
	if c.Copies > 1 {
		return lastAnswer(AtOnce(ctx, c.Copies, func(ctx context.Context) Result { return s.call(ctx, c) }))
	}
	return s.call(ctx, c)
}

// call sends one copy.
func (s *Sender) call(ctx context.Context, c Callback) Result {
	began := s.now()
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
	to := s.transport
	if c.PublicOnly {
		to = s.public
	}
	s.do(to.of(ctx), request, &r)
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
