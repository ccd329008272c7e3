package httpfront_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// body is a request's body that can be read again.
type body struct{ *bytes.Reader }

func (body) Close() error { return nil }

// A request that succeeds costs no allocation for the log, and the log holds nothing of it, also while its answer is held.
func TestRequestLogCostsNothingForWhatSucceeds(t *testing.T) {
	sandbox, into, sent := &sandboxes.Sandbox{Tenant: 1}, make([]byte, 512), &body{bytes.NewReader(bytes.Repeat([]byte("x"), 6000))}
	r := httptest.NewRequest(http.MethodPost, "/v1/payments", nil)
	var u httpfront.Unlogged
	if n := testing.AllocsPerRun(1000, func() {
		_, _ = sent.Seek(0, io.SeekStart)
		r.Body = sent
		if held := u.Follow(r, sandbox, into, into); held > 0 {
			t.Fatalf("the log holds %d bytes of it", held)
		}
	}); n > 0 {
		t.Errorf("%v allocations for each request", n)
	}
}
