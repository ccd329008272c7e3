package webhooks_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func TestSendDoesNotFollow(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	target := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	cases := map[string]struct {
		status   int
		location string
	}{
		"301": {301, target}, "302": {302, target}, "303": {303, target}, "307": {307, target}, "308": {308, target},
		"without a target": {302, ""}, "to a target that cannot be read": {302, "http://[::1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.location != "" {
					w.Header().Set("Location", c.location)
				}
				w.WriteHeader(c.status)
			})
			if r := newSender().Send(t.Context(), delivery(url)); r.Status != c.status || r.Err == nil {
				t.Errorf("got %+v, want a failure with status %d", r, c.status)
			}
			if hits.Load() != 0 {
				t.Error("the redirection was followed")
			}
		})
	}
}

// What is forbidden is refused when it is connected to, whatever name led there.
func TestSendIsGuarded(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	port := url[strings.LastIndex(url, ":")+1:]
	denied := egress.Guard{AllowLoopback: true, Deny: rules(t, "127.0.0.1:"+port, "::1")}
	cases := map[string]struct {
		guard egress.Guard
		host  string
	}{
		"address":                 {egress.Guard{}, "127.0.0.1"},
		"mapped address":          {egress.Guard{}, "[::ffff:127.0.0.1]"},
		"name":                    {egress.Guard{}, "localhost"},
		"unspecified":             {egress.Guard{AllowLoopback: true}, "0.0.0.0"},
		"unspecified v6":          {egress.Guard{AllowLoopback: true}, "[::]"},
		"denied":                  {denied, "127.0.0.1"},
		"denied, by name":         {denied, "localhost"},
		"denied, mapped":          {denied, "[::ffff:127.0.0.1]"},
		"link-local with a zone":  {egress.Guard{AllowLoopback: true}, "[fe80::1%25lo]"},
		"octal, hex or too short": {egress.Guard{}, "0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			sender := webhooks.NewSender(c.guard, "1.2.3", time.Now)
			r := sender.Send(t.Context(), delivery("http://"+c.host+":"+port+"/"))
			var forbidden egress.ErrForbidden
			if !errors.As(r.Err, &forbidden) && !errors.Is(r.Err, egress.ErrHost) {
				t.Errorf("got %+v, want ErrForbidden or ErrHost", r)
			}
			if hits.Load() != 0 {
				t.Error("the event was sent")
			}
		})
	}
}

// A proxy would connect past the guard.
func TestSendIgnoresProxies(t *testing.T) {
	var hits atomic.Int32
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy)
	}
	t.Setenv("NO_PROXY", "")
	sender := newSender()
	sender.SetTimeout(200 * time.Millisecond)
	// 192.0.2.1 is nobody's, and no loopback address, which no proxy would be asked for.
	if r := sender.Send(t.Context(), delivery("http://192.0.2.1/")); r.Err == nil || hits.Load() != 0 {
		t.Errorf("got %+v; the proxy was asked %d times", r, hits.Load())
	}
}
