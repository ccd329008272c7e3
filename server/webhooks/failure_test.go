package webhooks_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func TestKindsOfFailure(t *testing.T) {
	t.Parallel()
	status := func(code int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		t.Cleanup(server.Close)
		return server.URL
	}
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(release) })
	resets := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(resets.Close)
	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(unknown.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for want, url := range map[string]string{
		"": status(204), "answered_3xx": status(302), "answered_4xx": status(404), "answered_5xx": status(500), "gone": status(410),
		"timeout": hanging.URL, "connection_reset": resets.URL, "connection_refused": "http://" + closed.Addr().String(),
		"tls": unknown.URL, "forbidden": "http://169.254.169.254/", "dns": "http://no-such-host.invalid/",
		"other": strings.Replace(status(204), "http://", "gopher://", 1),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			sender := webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", time.Now)
			sender.SetTimeout(time.Minute)
			if want == "timeout" {
				sender.SetTimeout(200 * time.Millisecond)
			}
			result := sender.Send(t.Context(), webhooks.Delivery{URL: url, Body: []byte("{}")})
			if got := result.Kind(); got != want {
				t.Errorf("got %q for %v", got, result.Err)
			}
			if want == "" {
				return
			}
			if kind, status := webhooks.KindOfText(result.Err.Error()); kind != want || status != result.Status {
				t.Errorf("got %q with status %d for the text %q", kind, status, result.Err)
			}
		})
	}
}

// A name that is not found in time is no firewall, and a program that does not finish the handshake was reached.
func TestWhereATimeoutHappens(t *testing.T) {
	t.Parallel()
	silent := strings.Replace(listen(t, func(*net.TCPConn) {}), "http:", "https:", 1)
	for name, c := range map[string]struct{ url, want, says string }{
		"look-up": {"http://never-resolved.example/", "dns", "lookup never-resolved.example"}, "handshake": {silent, "tls", webhooks.HandshakeLate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			silence := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}
			sender := webhooks.NewSender(egress.Guard{AllowLoopback: true, Resolver: silence}, "test", time.Now)
			sender.SetTimeout(200 * time.Millisecond)
			result := sender.Send(t.Context(), webhooks.Delivery{URL: c.url, Body: []byte("{}")})
			kind, _ := webhooks.KindOfText(result.Err.Error())
			if got := result.Kind(); got != c.want || kind != c.want || !strings.Contains(result.Err.Error(), c.says) {
				t.Errorf("got %q, and %q for the text %q", got, kind, result.Err)
			}
		})
	}
	for want, err := range map[string]error{
		"dns":             &net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", Name: "shop.example", IsTimeout: true}},
		"connect_timeout": &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
	} {
		err = webhooks.Reason(err)
		if kind, _ := webhooks.KindOfText(err.Error()); kind != want || (webhooks.Result{Err: err}).Kind() != want {
			t.Errorf("%q is not %q: %v", kind, want, err)
		}
	}
}
