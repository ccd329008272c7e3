package webhooks_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// A receiver that sends more than anybody reads is cut off, and its connection, on which the rest would come, used no more.
func TestReceiverThatSendsTooMuchIsCutOff(t *testing.T) {
	t.Parallel()
	const megabytes = 10
	var connections, written atomic.Int64
	ended := make(chan struct{}, 2)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer func() { ended <- struct{}{} }()
		chunk := bytes.Repeat([]byte{'x'}, 1<<10)
		for range megabytes << 10 {
			n, err := w.Write(chunk)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	sender := newSender()
	for range 2 {
		if r := sender.Send(t.Context(), delivery(server.URL)); r.Err != nil || len(r.Body) != 4<<10 {
			t.Errorf("kept %d bytes, %v", len(r.Body), r.Err)
		}
		<-ended
	}
	if got := connections.Load(); got != 2 {
		t.Errorf("%d connections were made, want one for each event", got)
	}
	// What is in the buffers of the two ends of a connection was written without being read.
	if got := written.Load(); got >= 2*megabytes<<20 {
		t.Errorf("the receiver sent all of its %d bytes", got)
	}
}

// An error that repeats what the receiver sent is short: it is kept with the attempt, and listed.
func TestReceiverWhoseAnswerIsNoHTTP(t *testing.T) {
	t.Parallel()
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
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, strings.Repeat("\x01", 60_000)+"\r\n\r\n")
			_ = conn.Close()
		}
	}()
	r := newSender().Send(t.Context(), delivery("http://"+listener.Addr().String()))
	if r.Err == nil || !strings.Contains(r.Err.Error(), "malformed") || len(r.Err.Error()) > 600 {
		t.Errorf("the error is of %d bytes: %.600v", len(r.Err.Error()), r.Err)
	}
}

func TestConnectionOfAReceiverIsUsedAgain(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "thanks") }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	sender := newSender()
	for range 5 {
		if r := sender.Send(t.Context(), delivery(server.URL)); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if got := connections.Load(); got != 1 {
		t.Errorf("%d connections were made for five events", got)
	}
}

// The ten seconds are for all of an attempt: a header that comes byte by byte does not begin them again.
func TestHeaderByteByByte(t *testing.T) {
	t.Parallel()
	url := listen(t, func(c *net.TCPConn) {
		go func() {
			defer func() { _ = c.Close() }()
			_, _ = http.ReadRequest(bufio.NewReader(c)) // an answer to no request would not be taken for one
			pace := time.Tick(time.Millisecond)
			for next := "HTTP/1.1 200 OK\r\nX-Slow: "; ; next = "a" { // without end
				if _, err := c.Write([]byte(next)); err != nil {
					return
				}
				<-pace
			}
		}()
	})
	sender := newSender()
	sender.SetTimeout(300 * time.Millisecond)
	r := sender.Send(t.Context(), delivery(url))
	if r.Err == nil || r.Status != 0 || r.Duration < 300*time.Millisecond || r.Duration > time.Minute {
		t.Errorf("got %+v", r)
	}
}

// A reset counts as what had come before it: an acknowledgement stays one.
func TestResetDuringTheAnswer(t *testing.T) {
	t.Parallel()
	for answer, acknowledged := range map[string]bool{
		"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf":                  true,
		"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 9\r\n\r\nhalf": false,
		"HTTP/1.1 200 O": false,
	} {
		t.Run(answer[:14], func(t *testing.T) {
			url := listen(t, func(c *net.TCPConn) {
				go func() {
					_, _ = http.ReadRequest(bufio.NewReader(c))
					_, _ = io.WriteString(c, answer)
					_ = c.Close()
				}()
			})
			if r := newSender().Send(t.Context(), delivery(url)); (r.Err == nil) != acknowledged {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// The time that receivers are told is the one that the delivery brings: the clock of the machine that sends may be wrong.
func TestSendByAClockThatIsWrong(t *testing.T) {
	t.Parallel()
	wrong := func() time.Time { return time.Now().Add(-10 * time.Minute) }
	sender := webhooks.NewSender(egress.Guard{AllowLoopback: true}, "1.2.3", wrong)
	told := time.Now().Truncate(time.Second) // as precise as what Retry-After says
	for name, c := range map[string]struct {
		at       time.Time
		accepted bool
	}{
		"told the time": {told, true},
		"by its own":    {time.Time{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			soon := told.Add(90 * time.Second).UTC().Format(http.TimeFormat)
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if err := library(t, standardSecret).Verify(body, r.Header); (err == nil) != c.accepted {
					t.Errorf("the receiver says %v", err)
				}
				w.Header().Set("Retry-After", soon)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			d := webhooks.Delivery{URL: url, Secret: standardSecret, ID: sample().ID, Type: payments.Collection, Body: []byte(event), At: c.at}
			r := sender.Send(t.Context(), d)
			if r.Duration < 0 || r.Duration > time.Minute {
				t.Errorf("it took %s", r.Duration)
			}
			if c.accepted && (!r.StartedAt.Equal(c.at) || r.RetryAfter != 90*time.Second) {
				t.Errorf("began at %s, to be sent again after %s", r.StartedAt, r.RetryAfter)
			}
		})
	}
}

// A body that is cut arrives in pieces, as a body of its whole length. On a machine that is busy, two pieces may be there before the
// receiver reads the first.
func TestBodyThatArrivesInPieces(t *testing.T) {
	t.Parallel()
	var read []string
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.ContentLength != int64(len(event)) || r.TransferEncoding != nil {
			t.Errorf("the length is %d, and the encoding %q", r.ContentLength, r.TransferEncoding)
		}
		read = nil
		for buffer := make([]byte, 1<<10); ; {
			n, err := r.Body.Read(buffer)
			if n > 0 {
				read = append(read, string(buffer[:n]))
			}
			if err != nil {
				return
			}
		}
	})
	want := []string{event[:1], event[1:10], event[10:]}
	sender := newSender()
	for end := time.Now().Add(time.Minute); !slices.Equal(read, want); {
		r := sender.Call(t.Context(), webhooks.Callback{
			URL: url, Method: http.MethodPost, Header: http.Header{}, Body: []byte(event), Cuts: []int{1, 10},
		})
		if r.Err != nil || strings.Join(read, "") != event {
			t.Fatalf("%v: %q", r.Err, read)
		}
		if time.Now().After(end) {
			t.Fatalf("the receiver read %q", read)
		}
	}
}
