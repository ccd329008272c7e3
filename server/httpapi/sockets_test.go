package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpserver"
)

// listen serves a handler as the program does, until the test ends, and returns its URL.
func listen(t *testing.T, handler http.Handler, d httpserver.Deadlines) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.Drain = 10 * time.Millisecond // nobody waits for an answer any more
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- httpserver.New(handler, d).Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// serveWithin is serve with other deadlines.
func (f *fixture) serveWithin(d httpserver.Deadlines) *fixture {
	f.t.Helper()
	other := *f
	f.serve(func(o *fronts.Options) { other.url = listen(f.t, fronts.New(*o), d) })
	return &other
}

// exchange sends a request as it is, closes the client's side if told to, and returns the answer.
func (f *fixture) exchange(request string, halfClose bool) (*http.Response, string) {
	f.t.Helper()
	conn := f.dial()
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		f.t.Fatal(err)
	}
	if halfClose {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			f.t.Fatal(err)
		}
	}
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		f.t.Fatalf("%q is not answered: %v", request, err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		f.t.Fatalf("%q is answered in part: %v", request, err)
	}
	if rest, err := io.ReadAll(reader); answer.Close && (err != nil || len(rest) > 0) {
		f.t.Errorf("%q: behind the answer came %q, %v", request, rest, err)
	}
	return answer, string(body)
}

// A request whose body does not come is answered, and its connection is closed.
func TestBodyThatDoesNotCome(t *testing.T) {
	f := newFixture(t)
	hasty := httpserver.Default
	hasty.Body = 50 * time.Millisecond
	f = f.serveWithin(hasty)
	f.call("GET", "/v1/payments", nil) // loads the configuration
	for name, c := range map[string]struct {
		line, key, mediaType string
		want                 int
		code                 string
	}{
		"without a key":      {"POST /v1/payments", "", "application/json", 401, "unauthorized"},
		"with a wrong key":   {"POST /v1/payments", "wrong", "application/json", 401, "unauthorized"},
		"nowhere":            {"POST /nowhere", "", "application/json", 404, "not_found"},
		"by another method":  {"DELETE /v1/payments", key, "application/json", 405, "method_not_allowed"},
		"no JSON":            {"POST /v1/payments", key, "text/plain", 415, "unsupported_media_type"},
		"a payment":          {"POST /v1/payments", key, "application/json", 400, "invalid_body"},
		"a disbursement":     {"POST /v1/disbursements", key, "application/json", 400, "invalid_body"},
		"a refund":           {"POST /v1/payments/TX_0/refund", key, "application/json", 400, "invalid_body"},
		"of a sandbox":       {"POST /sandboxes/team/checkout/api/v1/payments", key, "application/json", 400, "invalid_body"},
		"of a list":          {"GET /v1/payments", key, "application/json", 200, ""},
		"without a key, GET": {"GET /v1/payments", "", "application/json", 401, "unauthorized"},
		"of an open route":   {"GET /v1/meta", "", "application/json", 200, ""},
		"of the document":    {"GET /v1/openapi.json", "", "application/json", 200, ""},
	} {
		for _, body := range []string{"Content-Length: 10\r\n\r\n", "Content-Length: 10\r\n\r\n{\"am", "Transfer-Encoding: chunked\r\n\r\n4\r\n{\"am", "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"} {
			t.Run(name, func(t *testing.T) {
				request := fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n", c.line, c.mediaType)
				if c.key != "" {
					request += "Authorization: Bearer " + c.key + "\r\n"
				}
				answer, text := f.exchange(request+body, false)
				if answer.StatusCode == http.StatusContinue {
					return // the answer is behind it: see the tests of httpserver
				}
				if answer.StatusCode != c.want || !strings.Contains(text, c.code) || !answer.Close {
					t.Errorf("answered %d, closes: %t: %s", answer.StatusCode, answer.Close, text)
				}
			})
		}
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d transactions are recorded", n)
	}
}
