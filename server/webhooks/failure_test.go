package webhooks_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
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
		"connect_timeout": "http://never-resolved.example/", "tls": unknown.URL, "forbidden": "http://169.254.169.254/", "dns": "http://no-such-host.invalid/",
		"other": strings.Replace(status(204), "http://", "gopher://", 1),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			guard := egress.Guard{AllowLoopback: true}
			if want == "connect_timeout" {
				guard.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}}
			}
			sender := webhooks.NewSender(guard, "test", time.Now)
			sender.SetTimeout(time.Minute)
			if want == "timeout" || want == "connect_timeout" {
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
