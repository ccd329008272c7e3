package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpserver"
)

// A page of another site, whose name leads to this machine, reads nothing: each route answers its name with 421, in the
// shape of its API, whatever key is sent.
func TestNamesOfOtherSitesGetNothing(t *testing.T) {
	f := newFixture(t)
	hosts, err := httpserver.NewHosts("pay.example.com")
	if err != nil {
		t.Fatal(err)
	}
	f = f.serve(func(o *fronts.Options) { o.RefusedHost = hosts.Refused })
	ask := func(method, path string, change func(*http.Request)) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, f.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		change(r)
		got, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = got.Body.Close() }()
		text, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		return got, string(text)
	}
	parameter := regexp.MustCompile(`\{[a-z]+\}`)
	asked := 0
	walk := func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete}, method) {
			return nil // a route for all methods
		}
		asked++
		path := strings.ReplaceAll(parameter.ReplaceAllString(pattern, "x"), "*", "x")
		got, text := ask(method, path, func(r *http.Request) { r.Host = "evil.example:8080" })
		named := text
		if strings.Contains(path, "/operators/") {
			named = got.Header.Get("X-Cauri-Reason")
		}
		if strings.Contains(path, "/com.tlc.merchant.api/") != strings.Contains(text, "<faultstring>") {
			t.Errorf("%s is answered %s", path, text)
		}
		if got.StatusCode != http.StatusMisdirectedRequest || !strings.Contains(named, "--allowed-hosts") {
			t.Errorf("%s %s is answered %d, %q: %s", method, path, got.StatusCode, got.Header, text)
		}
		return nil
	}
	if err := chi.Walk(fronts.New(fronts.Options{Console: true}).Routes(), walk); err != nil || asked < 200 {
		t.Fatalf("%d routes were asked, %v", asked, err)
	}
	for host, want := range map[string]int{
		"localhost": 200, "cauri:8080": 200, "[::1]:8080": 200, "PAY.example.com.": 200, "host.docker.internal": 200, "evil.example": 421,
		"x.pay.example.com": 421,
	} {
		if got, text := ask("GET", "/v1/payments", func(r *http.Request) { r.Host = host }); got.StatusCode != want {
			t.Errorf("%s is answered %d: %s", host, got.StatusCode, text)
		}
	}
	got, text := ask("GET", "/v1/payments", func(r *http.Request) { r.Header.Set("X-Forwarded-Host", "evil.example") })
	if got.StatusCode != http.StatusMisdirectedRequest || !strings.Contains(text, `"error":"misdirected_request"`) ||
		!strings.Contains(text, `"host":"evil.example"`) || !strings.Contains(text, "--allowed-hosts=evil.example") {
		t.Errorf("a proxy that was asked for evil.example is answered %d: %s", got.StatusCode, text)
	}
	got, _ = ask("GET", "/v1/payments", func(r *http.Request) { r.Host, r.URL.Opaque = "localhost", "http://evil.example/v1/payments" })
	if got.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a whole URL of another host is answered %d", got.StatusCode)
	}
	connection, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if _, err := io.WriteString(connection, "GET /v1/health HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	without, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil || without.StatusCode != http.StatusOK {
		t.Errorf("a request without a host is answered %+v, %v", without, err)
	}
}
