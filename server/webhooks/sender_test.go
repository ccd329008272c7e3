package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// newSender makes a sender that may send to this machine.
func newSender() *webhooks.Sender {
	return webhooks.NewSender(egress.Guard{AllowLoopback: true}, "1.2.3", time.Now)
}

// serve runs a receiver until the test ends.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// delivery is an event for a receiver.
func delivery(url string) webhooks.Delivery {
	return webhooks.Delivery{URL: url, Secret: standardSecret, ID: sample().ID, Type: payments.Collection, Body: []byte(event)}
}

func TestSendIsWhatAReceiverVerifies(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{standardSecret, ownSecret, oddSecret} {
		t.Run(secret, func(t *testing.T) {
			// Bytes that a JSON library would write in another way.
			body := []byte("{\"a\" :  1.0,\t\"b\":\"\\u00e9 <&>\"}\n")
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				got, err := io.ReadAll(r.Body)
				if err != nil || !bytes.Equal(got, body) {
					t.Errorf("body %q, %v", got, err)
				}
				if err := webhooks.Verify(r.Header, got, secret, time.Now()); err != nil {
					t.Error(err)
				}
				if err := library(t, secret).Verify(got, r.Header); err != nil {
					t.Error(err)
				}
				w.WriteHeader(http.StatusNoContent)
			})
			d := delivery(url)
			d.Secret, d.Body = secret, body
			if r := newSender().Send(t.Context(), d); r.Err != nil || r.Status != 204 {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestSendHeaders(t *testing.T) {
	t.Parallel()
	for typ, name := range map[payments.Type]string{
		payments.Collection: "payment.completed", payments.Refund: "payment.refunded", payments.Disbursement: "disbursement.completed",
	} {
		t.Run(string(typ), func(t *testing.T) {
			now := time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				id := "evt_" + sample().ID.Code()
				want := http.Header{
					"Content-Type": {"application/json"}, "User-Agent": {"Cauri-Webhooks/1.2.3"}, "X-Service-Event": {name},
					"X-Service-Delivery": {id}, "X-Service-Signature": {webhooks.Signature(standardSecret, []byte(event))},
					"Webhook-Id": {id}, "Webhook-Timestamp": {"1780228800"},
					"Webhook-Signature": {webhooks.StandardSignature(standardSecret, id, now, []byte(event))},
					"Content-Length":    {fmt.Sprint(len(event))}, "Accept-Encoding": {"gzip"},
				}
				if diff := cmp.Diff(want, r.Header); diff != "" || r.Method != http.MethodPost {
					t.Errorf("%s (-want +got):\n%s", r.Method, diff)
				}
			})
			sender := webhooks.NewSender(egress.Guard{AllowLoopback: true}, "1.2.3", func() time.Time { return now })
			d := delivery(url)
			d.Type = typ
			if r := sender.Send(t.Context(), d); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
}

func TestSendAnswers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		status     int
		after      string // Retry-After
		acked      bool
		retryAfter time.Duration
	}{
		"200":                               {status: 200, acked: true},
		"202":                               {status: 202, acked: true},
		"299":                               {status: 299, acked: true},
		"304":                               {status: 304},
		"400":                               {status: 400},
		"401":                               {status: 401},
		"410":                               {status: 410},
		"500":                               {status: 500},
		"599":                               {status: 599},
		"429":                               {status: 429},
		"429, seconds":                      {status: 429, after: "7", retryAfter: 7 * time.Second},
		"429, seconds in blanks":            {status: 429, after: " 7 ", retryAfter: 7 * time.Second},
		"429, date":                         {status: 429, after: "Sun, 31 May 2026 12:02:00 GMT", retryAfter: 2 * time.Minute},
		"503, seconds":                      {status: 503, after: "7", retryAfter: 7 * time.Second},
		"503, a date that is over":          {status: 503, after: "Sun, 31 May 2026 11:00:00 GMT"},
		"503, less than nothing":            {status: 503, after: "-7"},
		"503, less than nothing by so much": {status: 503, after: "-18446744000"},
		"503, nonsense":                     {status: 503, after: "soon"},
		"503, more than a day":              {status: 503, after: "9000000000000000000", retryAfter: 24 * time.Hour},
		"500 cannot ask":                    {status: 500, after: "7"},
		"200 need not":                      {status: 200, after: "7", acked: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
			})
			sender := webhooks.NewSender(egress.Guard{AllowLoopback: true}, "1.2.3", func() time.Time { return now })
			r := sender.Send(t.Context(), delivery(url))
			if r.Status != c.status || r.RetryAfter != c.retryAfter || (r.Err == nil) != c.acked {
				t.Errorf("got %+v, want status %d, retry after %s, acknowledged %t", r, c.status, c.retryAfter, c.acked)
			}
		})
	}
}

func TestSendKeepsTheBeginningOfTheAnswer(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)
	cases := map[string]struct {
		answer []byte
		kept   int
	}{
		"nothing": {nil, 0}, "a word": {[]byte("thanks"), 6}, "4 KiB": {long[:4096], 4096}, "a byte more": {long[:4097], 4096},
		"10 MiB": {long, 4096},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(c.answer) })
			r := newSender().Send(t.Context(), delivery(url))
			if r.Err != nil || !bytes.Equal(r.Body, c.answer[:c.kept]) {
				t.Errorf("kept %d bytes, %v, want %d", len(r.Body), r.Err, c.kept)
			}
		})
	}
}

// hang answers whatever begin writes and then nothing more until the sender goes away.
func hang(begin func(w http.ResponseWriter)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the server notices that the sender went away
		begin(w)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestSendEndsInTime(t *testing.T) {
	t.Parallel()
	if got := newSender().Timeout(); got != webhooks.AttemptTimeout {
		t.Errorf("an attempt may take %s", got)
	}
	cases := map[string]struct {
		handler http.HandlerFunc
		status  int
		acked   bool
	}{
		"no answer": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, 0, false},
		"an answer that does not end": {hang(func(w http.ResponseWriter) { fmt.Fprint(w, "thanks") }), 200, true},
		"a failure that does not end": {hang(func(w http.ResponseWriter) { w.WriteHeader(500) }), 500, false},
		"an answer byte by byte": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			for range time.Tick(time.Millisecond) {
				if r.Context().Err() != nil {
					return
				}
				fmt.Fprint(w, "a")
				_ = http.NewResponseController(w).Flush()
			}
		}, 200, true},
		"another protocol": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tar-pit\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn) // until the sender goes away
		}, 101, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sender := newSender()
			done := make(chan webhooks.Result, 1)
			url := serve(t, c.handler)
			go func() {
				var r webhooks.Result
				for timeout := time.Second; timeout < time.Minute; timeout *= 4 { // a slow machine may need more to read the status
					sender.SetTimeout(timeout)
					if r = sender.Send(context.Background(), delivery(url)); r.Status == c.status {
						break
					}
				}
				done <- r
			}()
			select {
			case r := <-done:
				if r.Status != c.status || (r.Err == nil) != c.acked {
					t.Errorf("got %+v, want status %d, acknowledged %t", r, c.status, c.acked)
				}
				if r.Duration <= 0 || r.StartedAt.IsZero() {
					t.Errorf("began at %s and took %s", r.StartedAt, r.Duration)
				}
			case <-time.After(3 * time.Minute):
				t.Fatal("the attempt does not end")
			}
		})
	}
}

func TestSendEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	if r := newSender().Send(ctx, delivery(url)); !errors.Is(r.Err, context.Canceled) {
		t.Errorf("got %v", r.Err)
	}
}

// listen hands every connection to f.
func listen(t *testing.T, f func(*net.TCPConn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() }) // the garbage collector would close a connection that nobody knows
			f(conn.(*net.TCPConn))
		}
	}()
	return "http://" + listener.Addr().String()
}

// nobody is the URL of a port that nobody listens on.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return "http://" + listener.Addr().String()
}

func TestSendWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"refused": nobody(t),
		"reset": listen(t, func(c *net.TCPConn) {
			_ = c.SetLinger(0)
			_ = c.Close()
		}),
		"closed": listen(t, func(c *net.TCPConn) { _ = c.Close() }),
		"not HTTP": listen(t, func(c *net.TCPConn) {
			_, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
			_ = c.Close()
		}),
		"TLS that is none": strings.Replace(listen(t, func(c *net.TCPConn) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = c.Close()
		}), "http:", "https:", 1),
		"no such name":     "http://receiver.invalid/",
		"another scheme":   "ftp://127.0.0.1/",
		"no host":          "http:///hook",
		"no URL":           "http://[::1/",
		"a broken escape":  "http://127.0.0.1/%zz",
		"a port too large": "http://127.0.0.1:70000/",
	}
	for name, url := range cases {
		t.Run(name, func(t *testing.T) {
			// What a URL may carry and what must show up nowhere.
			const password = "hunter2-hunter2"
			d := delivery(strings.Replace(url, "://", "://user:"+password+"@", 1))
			r := newSender().Send(t.Context(), d)
			if r.Err == nil || r.Status != 0 || r.Body != nil {
				t.Fatalf("got %+v", r)
			}
			for _, secret := range []string{password, d.Secret, strings.TrimPrefix(d.Secret, webhooks.SecretPrefix)} {
				if strings.Contains(fmt.Sprintf("%v %+v", r.Err, r.Err), secret) {
					t.Errorf("the error shows a secret: %v", r.Err)
				}
			}
		})
	}
}

func TestSendAuthenticatesByTheURL(t *testing.T) {
	t.Parallel()
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "user" || password != "hunter2" {
			t.Errorf("came as %q with %q", user, password)
		}
	})
	if r := newSender().Send(t.Context(), delivery(strings.Replace(url, "://", "://user:hunter2@", 1))); r.Err != nil {
		t.Error(r.Err)
	}
}

func TestSendIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	sender := newSender()
	results := make(chan webhooks.Result)
	const callers = 50
	for range callers {
		go func() { results <- sender.Send(context.Background(), delivery(url)) }()
	}
	for range callers {
		if r := <-results; r.Err != nil {
			t.Error(r.Err)
		}
	}
	if got := hits.Load(); got != callers {
		t.Errorf("%d came", got)
	}
}
