package egress

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Of a URL whose password is not encoded, programs read the host from the password. Nothing is sent there, and no error has
// a part of the password.
func TestUnclearURLsAreNotCalled(t *testing.T) {
	t.Parallel()
	client := Guard{AllowLoopback: true}.Client(ClientOptions{Timeout: time.Second})
	for _, text := range []string{
		"http://shop:p@127.0.0.1/hunter@shop.example/", "http://shop:p@127.0.0.1?hunter@shop.example",
		"http://shop@127.0.0.1/hunter:1@shop.example",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if !Unclear(u) || HostOf(u) != "" {
			t.Errorf("%s is taken for one with the host %s", text, HostOf(u))
		}
		answer, err := client.Do(&http.Request{Method: http.MethodGet, URL: u})
		if err == nil {
			_ = answer.Body.Close()
			t.Errorf("%s was called", text)
		}
	}
	for _, text := range []string{
		"https://shop.example/@team/hooks", "https://shop.example/?mail=a@b.example", "https://shop:p%40ss@shop.example:8443/hooks",
		"https://shop:p@ss@shop.example/x",
	} {
		if u, err := url.Parse(text); err != nil || Unclear(u) || HostOf(u) != "shop.example" {
			t.Errorf("%s is refused: %v", text, err)
		}
	}
	if Shown("http://shop.example") != `"http://shop.example"` || strings.Contains(Shown("http://shop:hunter@x"), "hunter") {
		t.Error("a URL with a password is shown, or one without is not")
	}
}

func TestProxiesAreChecked(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"": true, "proxy:3128": true, "http://shop:p%40ss%2Fw@proxy:3128": true, "http://shop:p@ss/hunter@proxy:3128": false,
		"http://shop:12/hunter@proxy": false, "http://shop:hunter/x@proxy": false, "http://[hunter": false,
	} {
		err := CheckProxies(func(name string) string {
			if name == "HTTPS_PROXY" {
				return text
			}
			return ""
		})
		if (err == nil) != good || err != nil && (strings.Contains(err.Error(), "hunter") || !strings.HasPrefix(err.Error(), "HTTPS_PROXY")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
