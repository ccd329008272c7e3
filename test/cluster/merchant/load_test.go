package main

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/cluster/merchantapi"
)

// runLoad sends a load of payments to a server and returns what became of it.
func runLoad(t *testing.T, uri string, plan merchantapi.Plan) merchantapi.Report {
	t.Helper()
	plan.Steps = []merchantapi.Step{{Binding: "checkout", Action: merchantapi.Pay}}
	l := newLoad("test", plan, map[string]binding{"checkout": {name: "checkout", uri: uri}})
	l.run(t.Context())
	return l.tell()
}

// inTurn is runLoad of n requests that begin when the one before is answered.
func inTurn(t *testing.T, uri string, n int, steps []merchantapi.Step) merchantapi.Report {
	t.Helper()
	l := newLoad("test", merchantapi.Plan{Rate: 1, Steps: steps}, map[string]binding{"checkout": {name: "checkout", uri: uri}})
	for i := range n {
		l.seen.begin(0)
		l.request(t.Context(), i, time.Now())
	}
	l.seen.end()
	return l.tell()
}

// api answers each request by a function that knows how many there were before.
func api(t *testing.T, answer func(n int64, w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(n.Add(1)-1, w, r) }))
	t.Cleanup(server.Close)
	return server.URL
}

func created(n int64, w http.ResponseWriter) {
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"id":"TX_%d","status":"SUCCESS","amount":100}`, n)
}

func TestLoadCountsWhatIsAnswered(t *testing.T) {
	t.Parallel()
	uri := api(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n == 3 {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"error":"internal"}`)
			return
		}
		created(n, w)
	})
	got := runLoad(t, uri, merchantapi.Plan{Rate: 100, Length: 100 * time.Millisecond})
	if got.Running || got.Requests != 10 || got.Answered != 10 || got.Failed != 1 || len(got.Acknowledged["checkout"]) != 9 {
		t.Errorf("the report is %+v, want 10 requests of which one failed", got)
	}
	if want := map[string]int{`pay: answered Internal Server Error {"error":"internal"}`: 1}; !maps.Equal(got.Failures, want) {
		t.Errorf("the failures are %v, want %v", got.Failures, want)
	}
}

// A server that closes a connection without a word while a request is on its way loses that request. The HTTP client must not hide it.
func TestLoadCountsLostRequests(t *testing.T) {
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
			go answerOnce(conn)
		}
	}()
	steps := []merchantapi.Step{{Binding: "checkout", Action: merchantapi.Pay}, {Binding: "checkout", Action: merchantapi.Retrieve}}
	got := inTurn(t, "http://"+listener.Addr().String(), 8, steps)
	// The second one is a GET, which the HTTP client sends again; payments it does not.
	if got.Requests != 8 || got.Failed != 3 || got.Resent != 1 {
		t.Errorf("the report is %+v, want 8 requests, of which three were lost and one was sent again", got)
	}
}

// answerOnce answers the first request of a connection, and closes it at the second.
func answerOnce(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	request, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	body := `{"id":"TX_1","status":"SUCCESS","amount":100}`
	status := "201 Created"
	if request.Method == http.MethodGet {
		status = "200 OK"
	}
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body); err != nil {
		return
	}
	_, _ = http.ReadRequest(in)
}

func TestLoadCountsConnectionsThatAreRefused(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	got := runLoad(t, "http://"+listener.Addr().String(), merchantapi.Plan{Rate: 100, Length: 20 * time.Millisecond})
	if got.Failed != 2 || got.DialFailures != 2 || len(got.Failures) != 2 {
		t.Errorf("the report is %+v, want two requests that failed in the same way, for two connections that were refused", got)
	}
}

func TestLoadInsistsWhereItIsTold(t *testing.T) {
	t.Parallel()
	uri := api(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n < 2 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":"unavailable"}`)
			return
		}
		created(n, w)
	})
	got := runLoad(t, uri, merchantapi.Plan{Rate: 1, Length: time.Millisecond, Insist: true})
	if got.Failed != 0 || got.Unavailable != 2 || got.Recovered.Before(got.Last) || got.Last.Before(got.First) {
		t.Errorf("the report is %+v, want two answers 503 and then a result", got)
	}
	silent := api(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":"unavailable"}`)
	})
	for _, insist := range []bool{false, true} {
		if got := runLoad(t, silent, merchantapi.Plan{Rate: 1, Length: time.Millisecond, Insist: insist}); got.Failed != 1 {
			t.Errorf("insist %t: a 503 without Retry-After is no failure: %+v", insist, got)
		}
	}
}

func TestLoadAsksForWhatItPaid(t *testing.T) {
	t.Parallel()
	var paths [4]string
	uri := api(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		paths[n] = r.Method + " " + r.URL.Path
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"id":"TX_0","status":"SUCCESS"}`)
			return
		}
		created(n, w)
	})
	var steps []merchantapi.Step
	for _, action := range []string{merchantapi.Retrieve, merchantapi.Retrieve, merchantapi.Refund, merchantapi.Pay} {
		steps = append(steps, merchantapi.Step{Binding: "checkout", Action: action})
	}
	got := inTurn(t, uri, len(steps), steps)
	want := [4]string{"POST /api/v1/payments", "GET /api/v1/payments/TX_0", "POST /api/v1/payments/TX_0/refund", "POST /api/v1/payments"}
	if paths != want || got.Failed != 0 {
		t.Errorf("the requests were %q, want %q; the report is %+v", paths, want, got)
	}
}
