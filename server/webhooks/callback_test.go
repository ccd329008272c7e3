package webhooks_test

import (
	"net/http"
	"testing"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// A callback has the User-Agent of its operator, and Cauri's own where that is not known.
func TestUserAgentOfCallbacks(t *testing.T) {
	t.Parallel()
	for _, header := range []http.Header{nil, {"Content-Type": {"application/json"}}, {"User-Agent": {"LWAC Http Client 1.0"}}} {
		came := make(chan http.Header, 1)
		url := serve(t, func(_ http.ResponseWriter, r *http.Request) { came <- r.Header })
		if r := newSender().Call(t.Context(), webhooks.Callback{URL: url, Method: http.MethodPost, Header: header}); r.Err != nil {
			t.Fatal(r.Err)
		}
		got, want := (<-came).Get("User-Agent"), "Cauri-Callbacks/1.2.3"
		if own := header.Get("User-Agent"); own != "" {
			want = own
		}
		if got != want {
			t.Errorf("the callback has the User-Agent %q, want %q", got, want)
		}
	}
}
