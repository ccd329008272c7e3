package httpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/httpserver"
)

// short are deadlines that a client which behaves badly meets soon.
// They leave a busy machine the time to pass on what a client that behaves well has sent.
var short = httpserver.Deadlines{Head: 2 * time.Second, Body: 2 * time.Second, Write: 2 * time.Second, Idle: 2 * time.Second,
	Drain: 2 * time.Second}

// soon is far above every short deadline, on a busy machine too: it only guards against hanging.
const soon = time.Minute

// served is a server with the routes of [routes].
type served struct {
	t       *testing.T
	address string
	open    atomic.Int64 // connections that the server has not closed
	stop    func()
	stopped chan error
	arrived chan struct{} // a request came to /hold
	release chan struct{} // closed: /hold answers
}

func serve(t *testing.T, d httpserver.Deadlines) *served {
	t.Helper()
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &served{
		t: t, address: listener.Addr().String(), stop: stop, stopped: make(chan error, 1), arrived: make(chan struct{}, 1),
		release: make(chan struct{}),
	}
	go func() { s.stopped <- httpserver.New(s.routes(), d).Serve(ctx, counting{listener, &s.open}) }()
	t.Cleanup(stop)
	return s
}

// counting counts the connections of a listener that are open.
type counting struct {
	net.Listener
	open *atomic.Int64
}

func (l counting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &counted{Conn: conn, open: l.open}, nil
}

type counted struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
}

func (c *counted) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

func (s *served) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/read", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, "half", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, "whole")
	})
	mux.HandleFunc("/refuse", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) })
	mux.HandleFunc("/silent", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/hold", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		s.arrived <- struct{}{}
		select {
		case <-s.release:
			fmt.Fprint(w, "held")
		case <-r.Context().Done():
			fmt.Fprint(w, "ended")
		}
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		for range 64 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	return mux
}

func (s *served) dial() *net.TCPConn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(4 * soon))
	return conn.(*net.TCPConn)
}

func (s *served) send(conn net.Conn, text string) {
	s.t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
}

// allClosed waits until the server has closed every connection, though no client has.
func (s *served) allClosed() {
	s.t.Helper()
	for deadline := time.Now().Add(soon); s.open.Load() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the server keeps %d connections after %s", s.open.Load(), soon)
		}
	}
}

func post(path, rest string) string { return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + rest }

// A client that is slow, endless or silent gets the answer that it can be given, and its connection is closed by a deadline.
func TestNoClientHoldsAConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		send  string
		drip  string // sent again and again, slowly
		flood string // sent again and again, as fast as it goes
		want  string // with which the answer begins; empty: there is none
	}{
		"nothing at all":   {},
		"a word of a head": {send: "GET"},
		"half a head":      {send: "GET /silent HTTP/1.1\r\nHost: x\r\n"},
		"a slow head":      {send: "GET /silent HTTP/1.1\r\nHost: x\r\n", drip: "X-A: b\r\n"},
		"a head without end": {send: "GET /silent HTTP/1.1\r\nHost: x\r\n", flood: "X-A: " + strings.Repeat("b", 1000) + "\r\n",
			want: "HTTP/1.1 431 "},
		"a line without end":   {send: "GET /", flood: strings.Repeat("b", 1000), want: "HTTP/1.1 431 "},
		"no body, read":        {send: post("/read", "Content-Length: 10\r\n\r\n"), want: "HTTP/1.1 400 "},
		"no body, refused":     {send: post("/refuse", "Content-Length: 10\r\n\r\n"), want: "HTTP/1.1 401 "},
		"no body, nowhere":     {send: post("/nowhere", "Content-Length: 10\r\n\r\n"), want: "HTTP/1.1 404 "},
		"no body, no answer":   {send: post("/silent", "Content-Length: 10\r\n\r\n"), want: "HTTP/1.1 200 "},
		"half a body, read":    {send: post("/read", "Content-Length: 10\r\n\r\nhello"), want: "HTTP/1.1 400 "},
		"half a body, refused": {send: post("/refuse", "Content-Length: 10\r\n\r\nhello"), want: "HTTP/1.1 401 "},
		"half a chunk":         {send: post("/read", "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"), want: "HTTP/1.1 400 "},
		"chunks without end, refused": {send: post("/refuse", "Transfer-Encoding: chunked\r\n\r\n"), flood: "5\r\nhello\r\n",
			want: "HTTP/1.1 401 "},
		"chunks without a size":        {send: post("/read", "Transfer-Encoding: chunked\r\n\r\n"), flood: "0", want: "HTTP/1.1 400 "},
		"a body byte by byte, read":    {send: post("/read", "Content-Length: 100000\r\n\r\n"), drip: "a", want: "HTTP/1.1 400 "},
		"a body byte by byte, refused": {send: post("/refuse", "Content-Length: 100000\r\n\r\n"), drip: "a", want: "HTTP/1.1 401 "},
		"a body that waits for 100": {send: post("/read", "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"),
			want: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 "},
		"a refusal instead of 100":      {send: post("/refuse", "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"), want: "HTTP/1.1 401 "},
		"idle after an answer":          {send: post("/read", "Content-Length: 5\r\n\r\nhello"), want: "HTTP/1.1 200 "},
		"idle after an answer to GET":   {send: "GET /silent HTTP/1.1\r\nHost: x\r\n\r\n", want: "HTTP/1.1 200 "},
		"half a request behind another": {send: post("/read", "Content-Length: 5\r\n\r\nhelloPOST"), want: "HTTP/1.1 200 "},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, short)
			conn := s.dial()
			s.send(conn, c.send)
			go func() { // until the server has closed the connection
				for c.drip != "" {
					if _, err := io.WriteString(conn, c.drip); err != nil {
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
				for c.flood != "" {
					if _, err := io.WriteString(conn, c.flood); err != nil {
						return
					}
				}
			}()
			answer := make([]byte, len(c.want))
			if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != c.want {
				t.Errorf("answered %q, %v; want %q", answer, err, c.want)
			}
			s.allClosed()
		})
	}
}

// What a client sends after its answer was given over an unread body is no request.
func TestNothingIsReadBehindAnUnreadBody(t *testing.T) {
	s := serve(t, short)
	conn := s.dial()
	s.send(conn, post("/refuse", "Content-Length: 10\r\n\r\n0123456789GET /silent HTTP/1.1\r\nHost: x\r\n\r\n"))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || !answer.Close {
		t.Fatalf("answered %v, %v", answer, err)
	}
	if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "no\n" {
		t.Errorf("the body is %q, %v", body, err)
	}
	if rest, _ := io.ReadAll(conn); len(rest) > 0 {
		t.Errorf("then came %q", rest)
	}
	s.allClosed()
}

// Requests that are sent without a wait for the answers are answered in their order.
func TestPipelinedRequests(t *testing.T) {
	s := serve(t, httpserver.Default)
	conn := s.dial()
	const requests = 100
	s.send(conn, strings.Repeat(post("/read", "Content-Length: 5\r\n\r\nhello")+"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", requests))
	answers := bufio.NewReader(conn)
	for i := range requests {
		for _, want := range []int{http.StatusOK, http.StatusNotFound} {
			answer, err := http.ReadResponse(answers, nil)
			if err != nil || answer.StatusCode != want || answer.Close {
				t.Fatalf("%d was answered %v, %v; want %d", i, answer, err, want)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
		}
	}
}

func TestClientThatNeverReads(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"a large answer":          "GET /large HTTP/1.1\r\nHost: x\r\n\r\n",
		"requests without end":    "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
		"bodies that wait for it": post("/read", "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, short)
			conn := s.dial()
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				for {
					if _, err := io.WriteString(conn, strings.Repeat(request, 1000)); err != nil {
						return
					}
				}
			}()
			select {
			case <-closed: // by the server: the client never does
			case <-time.After(soon):
				t.Fatalf("the server waits for it after %s", soon)
			}
			s.allClosed()
		})
	}
}

// An answer may be held for longer than every deadline: none of them ends its request.
func TestDeadlinesDoNotReachIntoAnswersThatAreHeld(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"without a body": "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n",
		"with a body":    post("/hold", "Content-Length: 5\r\n\r\nhello"),
		"in chunks":      post("/hold", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, short)
			conn := s.dial()
			s.send(conn, request)
			<-s.arrived
			time.AfterFunc(4*short.Body, func() { close(s.release) }) // what is tested is that time goes by
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "held" || answer.Close {
				t.Errorf("answered %q, %v, closes: %t", body, err, answer.Close)
			}
		})
	}
}

// connections is how many a test opens, both ends of each: a thousand, and more where the limit for open files allows.
func connections(t *testing.T) int {
	t.Helper()
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil { // Go has raised it to what is allowed
		t.Fatal(err)
	}
	most := int(min(files.Cur, 1<<20)/2) - 500
	if most < 1000 {
		t.Skipf("only %d files may be open", files.Cur)
	}
	return min(most, 2000)
}

// A thousand connections that do nothing keep nobody from being answered, nor the server from its end.
func TestIdleConnections(t *testing.T) {
	s := serve(t, httpserver.Deadlines{Head: time.Hour, Body: time.Hour, Write: time.Hour, Idle: time.Hour, Drain: short.Drain})
	idle := connections(t)
	for i := range idle {
		if conn := s.dial(); i%2 == 0 {
			s.send(conn, "GET /silent HTTP/1.1\r\nHost: x\r\n\r\n")
		}
	}
	conn := s.dial()
	s.send(conn, post("/read", "Content-Length: 5\r\n\r\nhello"))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("answered %v, %v", answer, err)
	}
	if open := s.open.Load(); open != int64(idle)+1 {
		t.Errorf("%d connections are open, want %d", open, idle+1)
	}
	s.ends()
}

// The server ends within its deadline, whatever its clients do.
func TestServerEndsBesideClientsThatHang(t *testing.T) {
	d := httpserver.Default
	d.Drain = short.Drain
	s := serve(t, d)
	for _, request := range []string{"", "GET", "GET /silent HTTP/1.1\r\nHost", post("/refuse", "Content-Length: 10\r\n\r\n"),
		post("/read", "Content-Length: 10\r\n\r\nhello")} {
		s.send(s.dial(), request)
	}
	s.send(s.dial(), "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
	s.send(s.dial(), "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.arrived
	s.ends()
	s.allClosed()
}

// What is on its way when the server is told to stop is finished.
func TestServerFinishesItsRequests(t *testing.T) {
	s := serve(t, httpserver.Deadlines{Head: soon, Body: soon, Write: soon, Idle: soon, Drain: 4 * soon})
	conn := s.dial()
	s.send(conn, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.arrived
	s.stop()
	close(s.release)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(answer.Body); string(body) != "held" {
		t.Errorf("answered %q", body)
	}
	s.ends()
}

// ends stops the server, which has to end soon.
func (s *served) ends() {
	s.t.Helper()
	s.stop()
	select {
	case err := <-s.stopped:
		if err != nil {
			s.t.Error(err)
		}
	case <-time.After(soon):
		s.t.Fatalf("it still serves after %s", soon)
	}
}
