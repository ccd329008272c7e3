package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
)

// If the console has its own host, only that host serves it, and that host serves no API. A port-forward serves both.
func TestConsoleWithItsOwnHost(t *testing.T) {
	f := newFixture(t, func(o *fronts.Options) {
		o.BaseURL = &url.URL{Scheme: "https", Host: "pay.example.com"}
		o.ConsoleURL = &url.URL{Scheme: "https", Host: "console.example.com"}
	})
	if text := f.viewer().get(checkout + "/overview").text; !strings.Contains(text, `href="https://pay.example.com/sandboxes/team/checkout/docs"`) {
		t.Error("no link leads to the description of the API at its host")
	}
	const page, asset, health, ofSandbox = checkout + "/sign-in", checkout + "/assets/nothing.css", "/v1/health", "/sandboxes/team/checkout/v1/meta"
	for host, served := range map[string]struct{ console, api bool }{
		"console.example.com": {console: true}, "CONSOLE.example.com:443": {console: true}, "console.example.com:8443": {api: true},
		"pay.example.com": {api: true}, "cauri-api.cauri-system.svc": {api: true}, "10.0.0.7:8080": {api: true}, "xlocalhost": {api: true},
		"localhost:41234": {true, true}, "127.0.0.1": {true, true}, "[::1]:8080": {true, true},
	} {
		for path, want := range map[string]bool{page: served.console, checkout: served.console, health: served.api, ofSandbox: served.api} {
			got := f.browser().send(http.MethodGet, path, nil, func(r *http.Request) { r.Host = host })
			if isServed := got.status != http.StatusNotFound; isServed != want {
				t.Errorf("%s%s answered %d", host, path, got.status)
			}
		}
		if got := f.browser().send(http.MethodGet, asset, nil, func(r *http.Request) { r.Host = host }); got.status != http.StatusNotFound {
			t.Errorf("%s%s answered %d", host, asset, got.status)
		}
		in := f.browser().send(http.MethodPost, page, url.Values{"key": {key}}, func(r *http.Request) { r.Host = host })
		if isIn := in.header.Get("Set-Cookie") != ""; isIn != served.console {
			t.Errorf("at %s the key answered %d", host, in.status)
		}
	}
}
