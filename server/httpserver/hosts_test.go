package httpserver_test

import (
	"net/http/httptest"
	"testing"

	"github.com/cauri-dev/cauri/server/httpserver"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	hosts, err := httpserver.NewHosts("cauri.example.test", "*.Ngrok.app", "pay-*.shop.test.")
	if err != nil {
		t.Fatal(err)
	}
	for host, refused := range map[string]string{
		"": "", "localhost": "", "LOCALHOST:8080": "", "localhost.": "", "a.localhost:8080": "", "cauri": "", "cauri:8080": "",
		"127.0.0.1:8080": "", "10.0.0.7": "", "[::1]:8080": "", "[::1]": "", "[fe80::1%25eth0]:8080": "", "[::ffff:127.0.0.1]": "", "127.1": "", "0x7f.1:80": "",
		"host.docker.internal:8080": "", "laptop.local": "", "api.cauri-system.svc": "", "api.cauri-system.svc.cluster.local.:8080": "",
		"cauri.example.test": "", "Cauri.Example.TEST.:8080": "", "a.b.ngrok.app": "", "pay-1.shop.test": "",
		"evil.example": "evil.example", "EVIL.example.:8080": "evil.example", "localhost.evil.example": "localhost.evil.example",
		"ngrok.app": "ngrok.app", "x.cauri.example.test": "x.cauri.example.test", "127.0.0.1.nip.io": "127.0.0.1.nip.io", "evil.example..": "evil.example",
		"evil.example:80:90": "evil.example:80:90", "svc.evil.example": "svc.evil.example", "xsvc.example": "xsvc.example", "pay-1.shop.test.evil.example": "pay-1.shop.test.evil.example",
		"[evil.example]:8080": "evil.example", "evil.0xample": "evil.0xample",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if r.Host = host; hosts.Refused(r) != refused {
			t.Errorf("%q is refused for %q, want %q", host, hosts.Refused(r), refused)
		}
		r.Host = "localhost:8080" // as a proxy on this machine asks
		r.Header.Add("X-Forwarded-Host", "localhost, "+host)
		if hosts.Refused(r) != refused {
			t.Errorf("%q, forwarded, is refused for %q, want %q", host, hosts.Refused(r), refused)
		}
		r.Host = "evil.example"
		r.Header.Set("X-Forwarded-Host", "localhost")
		if hosts.Refused(r) != "evil.example" {
			t.Errorf("X-Forwarded-Host lets evil.example in")
		}
	}
	for _, pattern := range []string{"", "https://shop.test", "shop.test:8080", "shop.test/x", "[::1]", "a b", "[a-z].test"} {
		if _, err := httpserver.NewHosts(pattern); err == nil {
			t.Errorf("%q is taken for a pattern", pattern)
		}
	}
	everything, err := httpserver.NewHosts("*")
	if r := httptest.NewRequest("GET", "http://evil.example/", nil); err != nil || everything.Refused(r) != "" {
		t.Errorf("* does not allow every name: %v", err)
	}
}
