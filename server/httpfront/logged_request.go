package httpfront

import (
	"io"
	"net/http"
	"sync"

	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// loggedRequest has the data of a request that the request log may keep. The status of the answer decides whether the
// request is logged; most requests are answered 2xx and are not logged. Until the status is known, loggedRequest keeps
// the beginning of the body in a pooled buffer.
type loggedRequest struct {
	unauthenticated *sandboxes.Sandbox // the sandbox of a request without a valid key; nil for none
	code            string             // the error code of the answer
	hint            string             // [Answer.Hint]
	actor           string             // name of the person with a session; empty for a request with an API key
	sent            sentBody
	answered        []byte // the beginning of the answer's body
}

// sentBody is a request's body that keeps a copy of the first bytes that are read.
type sentBody struct {
	io.ReadCloser
	kept *[requests.MaxBody]byte // nil before the first byte and after release
	n    int
	all  bool // whether kept is full or released
}

// sentBodies pools the buffers of sentBody.
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

// beginning returns the kept bytes.
func (b *sentBody) beginning() []byte {
	if b.kept == nil {
		return nil
	}
	return b.kept[:b.n]
}

// release returns the buffer to the pool.
func (b *sentBody) release() {
	b.all = true
	if b.kept != nil {
		sentBodies.Put(b.kept)
		b.kept = nil
	}
}

// record replaces a request's body by b.
func (b *sentBody) record(r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		b.ReadCloser = r.Body
		r.Body = b
	}
}
