package sandboxapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serve serves a handler until the test ends.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return New(server.URL, "key", server.Client().Transport)
}

// A server that accepts a request and is silent, such as a pod that hangs, holds no command for ever.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c.patience = 50 * time.Millisecond
	_, err := c.Clock(t.Context())
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "no answer for 50ms") {
		t.Errorf("the error is %v", err)
	}
}

// A list that promises more and has nothing is not asked for ever.
func TestListWithoutEntries(t *testing.T) {
	t.Parallel()
	asked := 0
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"data": [], "nextCursor": "more"}`))
	})
	if found, err := c.Payments(t.Context(), nil, 10); err != nil || len(found) != 0 || asked != 1 {
		t.Errorf("%v, %v, asked %d times", found, err, asked)
	}
}
