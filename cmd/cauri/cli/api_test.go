package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A path of /v1 may be written with and without its beginning, and as the whole address. What is printed is the answer.
func TestAPIPaths(t *testing.T) {
	f := newFixture(t)
	want := f.run("api", "GET", "/test_clients")
	want.want(t, ExitSuccess, `{"data":[{"msisdn":"`+alice+`"`)
	for _, path := range []string{"test_clients", "/v1/test_clients", "/api/v1/test_clients", f.url + "/api/v1/test_clients"} {
		if got := f.run("api", "get", path); got.out != want.out || got.err != nil {
			t.Errorf("%s: %q, %v", path, got.out, got.err)
		}
	}
	if got := f.run("api", "GET", "/test_clients?limit=5", "-q", "behavior=Manual", "-q", "msisdn="+manual); strings.Contains(got.out, alice) {
		t.Errorf("with a query: %q, %v", got.out, got.err)
	}
	completed := run(t, Options{}, "__complete", "api", "--url="+f.url, "--api-key="+testKey, "GET", "/pay")
	if !strings.HasPrefix(completed.out, "/payments\tGET POST\n") {
		t.Errorf("the completions are %q", completed.out)
	}
}

// The exit code follows from the status, and the body comes as it is.
func TestAPIAnswers(t *testing.T) {
	f := newFixture(t)
	body := `{"amount":100,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"` + alice + `","reference":"r-1","application":"shop"}`
	file := filepath.Join(t.TempDir(), "payment.json")
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	made := f.run("api", "POST", "/payments", "-d", body, "-i")
	made.want(t, ExitSuccess, "HTTP/1.1 201 Created\n", "\nX-Request-Id: ", "\n\n{\"id\":\"TX_")
	again := f.run("api", "POST", "/payments", "-d", "@"+file)
	again.want(t, ExitSuccess, `"reference":"r-1"`)
	input := run(t, Options{}, "api", "POST", "/payments", "-d", "@none", "--url="+f.url, "--api-key="+testKey)
	input.want(t, ExitUsage, "none")
	piped := runFrom(t, Options{}, body, "api", "POST", "/payments", "-d", "-", "--url="+f.url, "--api-key="+testKey)
	if piped.out != again.out || piped.err != nil {
		t.Errorf("from the standard input: %q, %v", piped.out, piped.err)
	}
	f.run("api", "POST", "/payments", "-d", `{"amount":"1"}`).want(t, ExitRefused, `"error":"invalid_body"`, "the answer is 400 Bad Request")
	f.run("api", "POST", "/payments", "-d", `{amount:1}`).want(t, ExitRefused, `"error":"invalid_`)
	f.run("api", "GET", "/payments", "-H", "Authorization:").want(t, ExitRefused, "the answer is 401")
	f.run("api", "GET", "/payments", "-H", "Authorization: Bearer none").want(t, ExitRefused, "the answer is 401")
	f.run("api", "POST", "/operators/mtn/v1_0/apiuser", "-d", "{}").want(t, ExitRefused, "the answer is 401")
}

// sent is a request as a server got it.
type sent struct {
	Line, Body, Host string
	Header           http.Header
}

// Nothing is in a request that the user did not write, but the key, the name of the program, and the type of JSON.
func TestAPISendsWhatIsWritten(t *testing.T) {
	t.Parallel()
	var got sent
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = sent{r.Method + " " + r.RequestURI, string(body), r.Host, r.Header}
		for _, name := range []string{"Accept-Encoding", "Connection"} { // net/http's, which unpacks the answer
			got.Header.Del(name)
		}
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	key, agent, asJSON := []string{"Bearer " + testKey}, []string{"cauri/cli"}, []string{"application/json"}
	for name, c := range map[string]struct {
		args []string
		want sent
	}{
		"a GET": {
			[]string{"GET", "/payments?limit=5", "-q", "msisdn=+25", "-q", "a=b=c&"},
			sent{"GET /api/v1/payments?limit=5&a=b%3Dc%26&msisdn=%2B25", "", host, http.Header{"Authorization": key, "User-Agent": agent}},
		},
		"JSON": {[]string{"POST", "/v1/faults", "-d", " [1] "}, sent{"POST /api/v1/faults", " [1] ", host, http.Header{
			"Authorization": key, "User-Agent": agent, "Content-Type": asJSON, "Content-Length": {"5"}}}},
		"no JSON": {[]string{"POST", "/console_links", "-d", "a=b"}, sent{"POST /api/v1/console_links", "a=b", host, http.Header{
			"Authorization": key, "User-Agent": agent, "Content-Length": {"3"}}}},
		"no body": {[]string{"DELETE", "/v1/faults/a%2Fb"}, sent{"DELETE /api/v1/faults/a%2Fb", "", host, http.Header{
			"Authorization": key, "User-Agent": agent}}},
		"an operator's path": {[]string{"POST", "/operators/mtn/collection/token/", "-H", "Authorization: Basic YTpi"}, sent{
			"POST /operators/mtn/collection/token/", "", host, http.Header{
				"Authorization": {"Basic YTpi"}, "User-Agent": agent, "Content-Length": {"0"}}}},
		"an operator's path without credentials": {[]string{"PUT", "/operators/mtn", "-d", "1"}, sent{"PUT /operators/mtn", "1", host, http.Header{
			"User-Agent": agent, "Content-Type": asJSON, "Content-Length": {"1"}}}},
		"own headers": {
			[]string{"PATCH", "x", "-d", "{}", "-H", "content-type: text/plain", "-H", "Authorization: Bearer other", "-H", "X-A: 1", "-H", "x-a:2, 3",
				"-H", "User-Agent: mine", "-H", "Host: example.com"},
			sent{"PATCH /api/v1/x", "{}", "example.com", http.Header{"Authorization": {"Bearer other"}, "User-Agent": {"mine"},
				"Content-Type": {"text/plain"}, "X-A": {"1", "2, 3"}, "Content-Length": {"2"}}},
		},
		"a text of the sandbox": {[]string{"GET", "/llms.txt"}, sent{"GET /llms.txt", "", host, http.Header{"User-Agent": agent}}},
		"left out": {[]string{"POST", "/x", "-d", "{}", "-H", "Content-Type:", "-H", "authorization: "}, sent{"POST /api/v1/x", "{}", host, http.Header{
			"User-Agent": agent, "Content-Length": {"2"}}}},
	} {
		run(t, Options{}, append([]string{"api", "--url=" + server.URL, "--api-key=" + testKey}, c.args...)...).want(t, ExitSuccess)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A redirect is not followed, a body is not escaped in a pipe, and an answer that breaks off is no answer.
func TestAPIPrintsTheAnswer(t *testing.T) {
	t.Parallel()
	const odd = "::error::\x1b[31m\x00\xff"
	times := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		times++
		status, _ := strconv.Atoi(r.URL.Query().Get("status"))
		if status == 0 {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			return
		}
		w.Header().Set("Location", "/other")
		w.Header().Set("X-Odd", "\u202e")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, odd)
	}))
	t.Cleanup(server.Close)
	api := func(args ...string) result {
		return run(t, Options{}, append([]string{"api", "GET", "/x", "--url=" + server.URL, "--api-key=" + testKey}, args...)...)
	}
	for status, code := range map[int]int{200: ExitSuccess, 302: ExitSuccess, 400: ExitRefused, 404: ExitRefused, 429: ExitUnavailable,
		500: ExitUnavailable, 503: ExitUnavailable} {
		got := api("-q", "status="+strconv.Itoa(status))
		got.want(t, code)
		if got.out != odd || got.progress != "" {
			t.Errorf("%d: it printed %q, %q", status, got.out, got.progress)
		}
	}
	if times != 7 {
		t.Errorf("the server was asked %d times", times)
	}
	if head := api("-q", "status=302", "-i"); !strings.Contains(head.out, "\nLocation: /other\n") || !strings.Contains(head.out, `X-Odd: \u202e`) ||
		!strings.HasSuffix(head.out, "\n\n"+odd) {
		t.Errorf("with its headers: %q", head.out)
	}
	api().want(t, ExitUnavailable, "half", "the API cannot be reached")
	server.Close()
	api().want(t, ExitUnavailable, "the API cannot be reached")
}

// A wrong command line is said before anything is sent. No message has a value that may be a secret.
func TestAPISaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "METHOD is missing: write `cauri api METHOD PATH`. `cauri api` sends a request; `cauri serve api` runs the server"},
		{[]string{"--listen-address=:8080"}, "there is no flag --listen-address: `cauri api --help` lists those of this command. `cauri api` sends a request; `cauri serve api`"},
		{[]string{"--database-url=" + secret}, "`cauri serve api` runs the server"},
		{[]string{"GET"}, "PATH is missing"},
		{[]string{"/payments"}, "METHOD is missing: write `cauri api GET /payments`"},
		{[]string{"G ET", "/payments"}, `"G ET" is no method: write one of GET, POST`},
		{[]string{"GET", "https://example.com/v1"}, "is not in this sandbox, and its key goes nowhere else: write a path, such as /payments"},
		{[]string{"GET", "/%zz"}, "is no path"},
		{[]string{"GET", "/x", "-q", "name"}, "--query=name: write name=value"},
		{[]string{"GET", "/x", "-H", secret}, `write "Name: value"`},
		{[]string{"GET", "/x", "-H", "Bearer " + secret + ": x"}, `write "Name: value"`},
		{[]string{"GET", "/x", "-H", "Authorization: " + secret + "\n" + secret}, "the value of Authorization has a character that no header may have"},
		{[]string{"GET", "/x", "y"}, `"y" is one argument too many`},
	} {
		got := run(t, Options{}, append([]string{"api", "--url=http://127.0.0.1:1", "--api-key=" + testKey}, c.args...)...)
		got.want(t, ExitUsage, c.want)
		if text := got.out + got.progress + Message(got.err); strings.Contains(text, secret) || strings.Contains(text, testKey) {
			t.Errorf("%q: a secret is in %q", c.args, text)
		}
	}
	run(t, Options{Plugin: true}, "api", "--listen-address=:1").want(t, ExitUsage, "lists those of this command")
	completed := run(t, Options{}, "__complete", "api", "--url=http://127.0.0.1:1", "--api-key=x", "P")
	if !strings.HasPrefix(completed.out, "POST\nPUT\nPATCH\n") {
		t.Errorf("the completions are %q", completed.out)
	}
}

// The plugin takes the name of a sandbox before the method.
func TestAPIOfThePlugin(t *testing.T) {
	f := newFixture(t)
	c := newCluster(t, f.url)
	c.run("api", "GET", "/test_numbers").want(t, ExitSuccess, `{"data":[`)
	c.run("api", "checkout", "get", "/test_numbers").want(t, ExitSuccess, `{"data":[`)
	c.run("api", "none", "GET", "/test_numbers").want(t, ExitRefused, "none")
}
