package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpfront"
)

// slowClient does not read a large answer before it is released.
type slowClient struct {
	*httptest.ResponseRecorder
	writing chan<- int // gets the bytes
	release <-chan struct{}
}

func (c slowClient) Write(p []byte) (int, error) {
	if len(p) > 10_000 {
		c.writing <- len(p)
		<-c.release
	}
	return c.ResponseRecorder.Write(p)
}

// However many clients do not read large answers, the process keeps only so many bytes. Small answers and other sandboxes are not refused.
func TestAnswersThatNobodyReadsAreBounded(t *testing.T) {
	f := newFixture(t)
	for i := range 40 {
		text := strings.Repeat("\x01", 200)
		f.call("POST", "/v1/payments", payment(strings.Repeat("r", i+1), object{"description": text}))
		f.call("POST", "/v1/payments", payment(strings.Repeat("r", i+1), object{"description": text}), withKey(otherKey))
	}
	const bound = 256 << 10
	var server *fronts.Server
	f.serve(func(o *fronts.Options) {
		o.Unread = httpfront.UnreadBounds{Process: 2 * bound, Sandbox: bound}
		server = fronts.New(*o)
	})
	release, writing, ended := make(chan struct{}), make(chan int), make(chan *httptest.ResponseRecorder)
	ask := func(path, key string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		got := httptest.NewRecorder()
		server.ServeHTTP(slowClient{got, writing, release}, r)
		ended <- got
	}
	asking := 0
	unread := func(path, key string) (bytes int) {
		t.Helper()
		for range 20 {
			go ask(path, key)
			select {
			case n := <-writing:
				bytes, asking = bytes+n, asking+1
			case got := <-ended:
				if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" ||
					!strings.Contains(got.Body.String(), "overloaded") {
					t.Fatalf("%s is answered %d: %.200s", path, got.Code, got.Body)
				}
			}
		}
		return bytes
	}
	if n := unread("/v1/payments?limit=100", key); n == 0 || n > bound {
		t.Errorf("%d bytes are kept for clients that do not read", n)
	}
	go ask("/v1/payments?limit=1", key)
	if got := <-ended; got.Code != http.StatusOK {
		t.Errorf("a small answer is %d: %s", got.Code, got.Body)
	}
	if n := unread("/v1/payments?limit=100", otherKey); n == 0 || n > bound {
		t.Errorf("%d bytes are kept for those of another sandbox", n)
	}
	close(release)
	for range asking {
		if got := <-ended; got.Code != http.StatusOK {
			t.Errorf("one that was read in the end is answered %d", got.Code)
		}
	}
	go ask("/v1/payments?limit=100", key)
	<-writing
	if got := <-ended; got.Code != http.StatusOK {
		t.Errorf("then one is answered %d: %s", got.Code, got.Body)
	}
}
