package exchange

import (
	"io"
	"net/http"
	"sync"

	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// loggedRequest is what the request log may keep of a request, while the request is answered. Most requests are
// answered 2xx and are not logged: until it is known, only the beginning of the body is kept, in a buffer that requests
// share.
type loggedRequest struct {
	unauthenticated *sandboxes.Sandbox // to which it was made without a valid key; nil for none
	code            string             // of the error that it was answered with
	sent            sentBody
	answered        []byte // the beginning of the answer's body
}

// sentBody is a request's body. It keeps its beginning as far as it was read.
type sentBody struct {
	io.ReadCloser
	kept *[requests.MaxBody]byte // nil before the first byte, and once it was released
	n    int
	all  bool // nothing more is kept
}

// sentBodies are buffers of requests that were answered.
var sentBodies = sync.Pool{New: func() any { return new([requests.MaxBody]byte) }}

// Read implements [io.Reader].
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.all {
		if b.kept == nil {
			b.kept = sentBodies.Get().(*[requests.MaxBody]byte)
		}
		b.n += copy(b.kept[b.n:], p[:n])
		b.all = b.n == len(b.kept)
	}
	return n, err
}

// beginning is the beginning of the body, as far as it was read.
func (b *sentBody) beginning() []byte {
	if b.kept == nil {
		return nil
	}
	return b.kept[:b.n]
}

// release gives the buffer back.
func (b *sentBody) release() {
	b.all = true
	if b.kept != nil {
		sentBodies.Put(b.kept)
		b.kept = nil
	}
}

// keep keeps the beginning of a request's body when it is read.
func (b *sentBody) keep(r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		b.ReadCloser = r.Body
		r.Body = b
	}
}
