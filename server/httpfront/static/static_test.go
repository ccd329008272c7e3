package static

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/time/rate"
)

// Compressing costs time that anybody may ask for: what is beyond the bound is sent as it is.
func TestCompressionsAreBounded(t *testing.T) {
	t.Parallel()
	content, once := New("text/plain", []byte("a text")), rate.NewLimiter(0, 1)
	for i, want := range []string{"gzip", ""} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		content.serve(w, r, once)
		if got := w.Header().Get("Content-Encoding"); got != want || want == "" && w.Body.String() != "a text" {
			t.Errorf("answer %d is encoded as %q: %q", i, got, w.Body)
		}
	}
}
