package generator

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// serve starts a server and returns its address.
func serve(t *testing.T, handler http.HandlerFunc) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func dial(t *testing.T, target Target, connections int) *Generator {
	t.Helper()
	g, err := Dial(t.Context(), target, connections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// numbered is a request that contains its number.
func numbered(buffer []byte, n int64) []byte {
	buffer = append(buffer, Head("POST", "/v1/things", "secret")...)
	return JSON(buffer, strconv.AppendInt(nil, n, 10))
}

func TestAClosedLoopSendsEveryRequestOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	var odd atomic.Pointer[string]
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != "POST" || r.URL.Path != "/v1/things" || r.Header.Get("Authorization") != "Bearer secret" {
			odd.Store(new(fmt.Sprint(r.Method, r.URL, r.Header)))
		}
		mu.Lock()
		defer mu.Unlock()
		seen[string(body)]++
		w.WriteHeader(201)
	})
	g := dial(t, Target{Addresses: []string{address}, Append: numbered, Status: 201}, 4)
	var accepted int64
	for range 2 { // the second run continues the numbers of the first
		result := g.Closed(t.Context(), 50*time.Millisecond)
		if err := result.Err(); err != nil {
			t.Fatal(err)
		}
		if result.Latency.Count() != result.Accepted || result.Took < 50*time.Millisecond {
			t.Errorf("%d accepted, %d times, took %s", result.Accepted, result.Latency.Count(), result.Took)
		}
		accepted += result.Accepted
	}
	if accepted == 0 || int64(len(seen)) != accepted {
		t.Errorf("%d requests were accepted, %d came", accepted, len(seen))
	}
	for body, times := range seen {
		if times != 1 {
			t.Errorf("request %s came %d times", body, times)
		}
	}
	if odd := odd.Load(); odd != nil {
		t.Error("came:", *odd)
	}
}

func TestRepliesOfEveryFormAreRead(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("0123456789", 10_000)
	forms := map[string]http.HandlerFunc{
		"with a length":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "short") },
		"without a body": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
		"empty":          func(http.ResponseWriter, *http.Request) {},
		"in chunks": func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				_, _ = io.WriteString(w, large)
				_ = http.NewResponseController(w).Flush()
			}
		},
		"in chunks with trailers": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, large)
			w.Header().Set("X-Sum", "1")
		},
	}
	want := map[string]int{"with a length": 5, "in chunks": 3 * len(large), "in chunks with trailers": len(large)}
	for name, handler := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &connection{address: serve(t, handler)}
			if err := c.dial(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer c.close()
			for range 3 { // an answer that is not read to its end spoils the next
				c.request = End(append(c.request[:0], Head("GET", "/", "")...))
				status, err := c.exchange()
				if err != nil || status/100 != 2 || len(c.body) != want[name] {
					t.Fatalf("status %d, %d bytes, error %v; want %d bytes", status, len(c.body), err, want[name])
				}
			}
		})
	}
}

func TestRepliesThatAreNoneAreErrors(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no HTTP":               "SSH-2.0-OpenSSH\r\n\r\n",
		"no status":             "HTTP/1.1 abc\r\n\r\n",
		"a length below zero":   "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"no length":             "HTTP/1.1 200 OK\r\n\r\n",
		"a chunk of no length":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"it ends in the middle": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &connection{reader: bufio.NewReader(strings.NewReader(text))}
			if status, err := c.answer(); err == nil {
				t.Errorf("was taken as an answer with status %d", status)
			}
		})
	}
}

// A stall of the server delays the requests of that time, and their latencies show it.
func TestAnOpenLoopCountsTheWaitOfAStall(t *testing.T) {
	t.Parallel()
	const rate, length, stall = 200, time.Second, 400 * time.Millisecond
	var begun atomic.Int64
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now().UnixNano()
		begun.CompareAndSwap(0, now)
		since := time.Duration(now - begun.Load())
		if since > 200*time.Millisecond && since < 200*time.Millisecond+stall {
			time.Sleep(200*time.Millisecond + stall - since)
		}
	})
	g := dial(t, Target{Addresses: []string{address}, Append: numbered, Status: 200}, 2)
	result := g.Open(t.Context(), rate, length)
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	if result.Accepted != rate {
		t.Errorf("%d requests were accepted, want %d", result.Accepted, rate)
	}
	// With two connections, a closed loop would see only two slow requests. Here 40 % of all requests wait, half of
	// these for more than half of the stall.
	if p80 := result.Latency.Percentile(80); p80 < stall/4 {
		t.Errorf("80 of 100 requests took at most %s: those that waited for the stall were not counted", p80)
	}
	if most := result.Latency.Max(); most < stall*8/10 {
		t.Errorf("the longest request took %s, the stall %s", most, stall)
	}
}

func TestAnOpenLoopKeepsItsRate(t *testing.T) {
	t.Parallel()
	var moments []time.Time
	var mu sync.Mutex
	address := serve(t, func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		moments = append(moments, time.Now())
	})
	g := dial(t, Target{Addresses: []string{address}, Append: numbered, Status: 200}, 8)
	begun := time.Now()
	result := g.Open(t.Context(), 100, 500*time.Millisecond)
	if result.Accepted != 50 || len(moments) != 50 {
		t.Fatalf("%d requests were accepted and %d came, want 50", result.Accepted, len(moments))
	}
	for i, at := range moments {
		if after := at.Sub(begun); after < time.Duration(i)*10*time.Millisecond {
			t.Errorf("the request %d came after %s: earlier than its moment", i, after)
		}
	}
	if rate := result.Rate(); rate > 100 {
		t.Errorf("the rate is told as %.1f, more than was asked for", rate)
	}
}

func TestWhatIsRefusedOrNotAnsweredIsTold(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch body, _ := io.ReadAll(r.Body); string(body) {
		case "3":
			http.Error(w, "no such thing", 404)
		case "4", "6":
			http.Error(w, "too busy", http.StatusServiceUnavailable)
		case "5":
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
		}
	})
	g := dial(t, Target{Addresses: []string{address}, Append: numbered, Status: 200}, 1)
	result := g.Open(t.Context(), 200, 100*time.Millisecond)
	if result.Accepted != 16 || result.Shed != 2 || result.Refused != 1 || result.Failed != 1 {
		t.Errorf("%d accepted, %d shed, %d refused, %d failed; want 16, 2, 1, 1", result.Accepted, result.Shed, result.Refused, result.Failed)
	}
	if err := result.Err(); err == nil || !strings.Contains(err.Error(), "404 no such thing") {
		t.Errorf("the error does not tell of the first: %v", err)
	}
	if result.Latency.Count() != 16 {
		t.Errorf("%d times were counted, want those of the 16 accepted", result.Latency.Count())
	}
	if shed := result.ShedPercent(); shed != 10 {
		t.Errorf("%.1f of 100 requests were shed, want 10", shed)
	}
	if err := (Result{Accepted: 1, Shed: 1}).Err(); err != nil {
		t.Errorf("a request that was shed is an error: %v", err)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then does the server notice that its client disconnected
		<-r.Context().Done()
	})
	g := dial(t, Target{Addresses: []string{address}, Append: numbered, Status: 200}, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	g.Closed(ctx, time.Hour)
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %s to end", took)
	}
}

func TestConnectionsAreSpreadOverTheAddresses(t *testing.T) {
	t.Parallel()
	var counts [2]atomic.Int64
	var addresses []string
	for i := range counts {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateActive {
				counts[i].Add(1)
			}
		}}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { _ = server.Close() })
		addresses = append(addresses, listener.Addr().String())
	}
	g := dial(t, Target{Addresses: addresses, Append: numbered, Status: 404}, 6)
	for begun := time.Now(); counts[0].Load() < 3 || counts[1].Load() < 3; { // a slow machine uses no connection within one turn
		if err := g.Closed(t.Context(), 20*time.Millisecond).Err(); err != nil {
			t.Fatal(err)
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("the servers were called on %d and %d connections, want 3 or more each", counts[0].Load(), counts[1].Load())
		}
	}
}
