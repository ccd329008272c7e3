package apidoc_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// discarded is an answer that nobody reads.
type discarded struct {
	header http.Header
	bytes  uint64
}

func (d *discarded) Header() http.Header { return d.header }
func (d *discarded) WriteHeader(int)     {}
func (d *discarded) Write(p []byte) (int, error) {
	d.bytes += uint64(len(p))
	return len(p), nil
}

// Anybody may ask for the page on many connections and not read it: its answers share the text. The test is not parallel,
// since it counts what is allocated.
func TestAnswersWithThePageShareItsText(t *testing.T) {
	page := apidoc.Pages(apidoc.Hosts{Console: true})[apidoc.PagePath]
	ask := func() (size, allocated uint64) {
		var before, after runtime.MemStats
		w := &discarded{header: http.Header{}}
		r := httptest.NewRequest(http.MethodGet, "http://a.example/sandboxes/team/checkout/docs", nil)
		runtime.ReadMemStats(&before)
		page.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		return w.bytes, after.TotalAlloc - before.TotalAlloc
	}
	ask() // makes the text
	if size, allocated := ask(); size < 300_000 || allocated > size/4 {
		t.Errorf("an answer of %d bytes takes %d bytes of memory", size, allocated)
	}
}

// A browser that kept a page asks with its ETag: after a restart without consoles, the page has no link to one.
func TestPageWithoutConsoleIsAnotherOne(t *testing.T) {
	t.Parallel()
	etags := map[string]bool{}
	for _, console := range []bool{true, false} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://a.example/sandboxes/team/checkout/docs", nil)
		apidoc.Pages(apidoc.Hosts{Console: console})[apidoc.PagePath].ServeHTTP(w, r)
		if linked := strings.Contains(w.Body.String(), `href="console"`); linked != console {
			t.Fatalf("a console: %t, and the page links one: %t", console, linked)
		}
		etags[w.Header().Get("ETag")] = true
	}
	if len(etags) != 2 || etags[""] {
		t.Errorf("the ETags are %v", etags)
	}
}
