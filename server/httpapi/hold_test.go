package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
)

// dial connects to the server.
func (f *fixture) dial() net.Conn {
	f.t.Helper()
	u, err := url.Parse(f.url)
	if err != nil {
		f.t.Fatal(err)
	}
	conn, err := net.DialTimeout("tcp", u.Host, 10*time.Second)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() }) // it is referred to until then: the garbage collector closes others
	return conn
}

// dialCheaply is dial for a test that counts bytes: the connection is the kernel's alone. What is read from it waits 20 s.
func (f *fixture) dialCheaply() (fd int) {
	f.t.Helper()
	u, err := url.Parse(f.url)
	if err != nil {
		f.t.Fatal(err)
	}
	server := netip.MustParseAddrPort(u.Host)
	if fd, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = syscall.Close(fd) })
	wait := syscall.Timeval{Sec: 20}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &wait); err != nil {
		f.t.Fatal(err)
	}
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(server.Port()), Addr: server.Addr().As4()}); err != nil {
		f.t.Fatal(err)
	}
	return fd
}

// request is a request for a payment as it goes over the wire.
func request(reference, scenario string) string {
	body := fmt.Sprintf(
		`{"amount":1000,"currency":"RWF","msisdn":%q,"reference":%q,"application":"shop","operator":"mtn","country":"RW","scenario":%q}`,
		alice,
		reference,
		scenario,
	)
	return fmt.Sprintf(
		"POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		key,
		len(body),
		body,
	)
}

// soon fails unless something is so within a while.
func soon(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within three minutes: " + what)
		}
	}
}

// memory is what the program uses now: its heap, its stacks, and what the runtime needs for them.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse + m.MSpanInuse + m.MCacheInuse
}

// raced reports whether the race detector looks on; it makes stacks twice as large.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestFiveThousandHeldAnswers is not parallel to other tests: it measures the process that it runs in.
func TestFiveThousandHeldAnswers(t *testing.T) {
	const held = 5000
	most := uint64(200 << 20)
	if raced() {
		most += most / 2
	}
	f := newFixtureAlone(t)
	f.config.LatencyPercent = 1000 // of 25 s at least
	f.sandbox(f.config, key)
	f.call("GET", "/v1/payments", nil) // loads the configuration
	sql := ledgertest.Connect(t, f.db)
	count := func(query string) (n int) {
		t.Helper()
		if err := sql.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := memory()

	clients := make([]int, held)
	for i := range clients {
		clients[i] = f.dialCheaply()
		if _, err := syscall.Write(clients[i], []byte(request(fmt.Sprint("r", i), "timeout"))); err != nil {
			t.Fatal(err)
		}
		if (i+1)%250 == 0 { // what is wanted are held answers, not a queue for the database
			soon(t, "all are recorded", func() bool { return count("select count(*) from transactions") == i+1 })
		}
	}

	const busy = "select count(*) from pg_stat_activity where datname = current_database() and usename like '%cauri_api'"
	soon(t, "no connection is in use", func() bool { return count(busy+" and (state <> 'idle' or backend_xmin is not null)") == 0 })
	if n := count(busy); n > 4*runtime.GOMAXPROCS(0) {
		t.Errorf("there are %d connections to the database, more than a pool has", n)
	}
	const locked = "select count(*) from pg_locks join pg_stat_activity using (pid) where datname = current_database() and usename like '%cauri_api'"
	if n := count(locked); n != 0 { // autovacuum may have some
		t.Errorf("%d locks are held", n)
	}
	grown := memory() - before
	t.Logf("%d held answers need %d MiB, %d bytes each", held, grown>>20, grown/held)
	if grown > most {
		t.Errorf("they need %d MiB", grown>>20)
	}
	if got := f.call(
		"POST",
		"/v1/payments",
		payment("r4999", object{"operator": "mtn", "country": "RW", "scenario": "timeout"}),
	); got.status != 200 {
		t.Errorf("meanwhile, a repetition is answered %d: %s", got.status, got.raw)
	}

	released := time.Now()
	close(f.release)
	for _, client := range clients {
		var answer [64]byte
		n, err := syscall.Read(client, answer[:])
		if err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 201 Created\r\n") {
			t.Fatalf("released, one is answered %q, %v", answer[:n], err)
		}
	}
	t.Logf("they were released within %s", time.Since(released))
	if state := count("select count(*) from events where state <> 'recorded'"); state != 0 {
		t.Errorf("%d events are not as they were", state)
	}
}

func TestClientThatGoesAwayLosesNothing(t *testing.T) {
	f := newFixture(t)
	f.config.LatencyPercent = 1000
	f.sandbox(f.config, key)
	conn := f.dial()
	if _, err := conn.Write([]byte(request("held", "timeout"))); err != nil {
		t.Fatal(err)
	}
	soon(t, "it is recorded", func() bool { return f.transactions() == 1 })
	_ = conn.Close()
	again := payment("held", object{"operator": "mtn", "country": "RW", "scenario": "timeout"})
	got := f.call("POST", "/v1/payments", again)
	if got.status != 200 || got.body["status"] != "TIMEOUT" || f.transactions() != 1 {
		t.Errorf("the repetition is answered %d: %s", got.status, got.raw)
	}
	f.conserved()
}

// A write that has begun goes on when the client goes away, so that it has one end.
func TestClientThatGoesAwayWhileItsPaymentIsBooked(t *testing.T) {
	f := newFixture(t)
	f.call("GET", "/v1/payments", nil)
	sql := ledgertest.Connect(t, f.db)
	tx, err := sql.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select from floats for update"); err != nil {
		t.Fatal(err)
	}
	conn := f.dial()
	if _, err := conn.Write([]byte(request("waits", "success"))); err != nil {
		t.Fatal(err)
	}
	soon(t, "it waits for the float", func() bool {
		return read[int](f, "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == 1
	})
	_ = conn.Close()
	time.Sleep(100 * time.Millisecond) // in which the server sees it
	if err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	soon(t, "it is recorded", func() bool { return f.transactions() == 1 })
	f.conserved()
}

func TestDrainingReleasesEveryKindOfAnswer(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	parent := f.paid("parent")
	f.config.LatencyPercent = 60_000 // the least is held for 4 minutes, so that nothing but the end of the process answers these calls
	f.sandbox(f.config, key)
	f.call("GET", "/v1/payments", nil, withKey("none")) // makes the server look
	calls := []func() response{
		func() response { return f.call("POST", "/v1/payments", payment("p1", object{"scenario": "success"})) },
		func() response { return f.call("POST", "/v1/payments", payment("p2", object{"scenario": "cancelled"})) },
		func() response { return f.refund(parent, object{"amount": 1}) },
		func() response { return f.disburse(disbursement("d1")) },
		func() response { return f.disburse(disbursement("d2", object{"msisdn": "+250788999999"})) },
	}
	done := make(chan map[string]int)
	go func() { done <- f.atOnce(len(calls), func(i int) response { return calls[i]() }) }()
	soon(t, "all are recorded", func() bool { return f.transactions() == 1+len(calls) })
	close(f.release)
	want := map[string]int{"201 SUCCESS": 2, "201 USER_CANCELLED": 1, "200 SUCCESS": 1, "200 UNKNOWN_MSISDN": 1}
	select {
	case got := <-done:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("answers are held although the process is told to stop")
	}
	if got := f.call("POST", "/v1/payments", payment("p3", object{"scenario": "timeout"})); got.body["status"] != "TIMEOUT" {
		t.Errorf("while it drains, a payment is answered %s", got.raw)
	}
}

// A connection that is kept open would lead to this process until it ends, and the request that is on its way at that moment would
// be lost.
func TestDrainingAsksForAnotherConnection(t *testing.T) {
	f := newFixture(t)
	f.config.LatencyPercent = 1000
	f.sandbox(f.config, key)
	f.call("GET", "/v1/payments", nil, withKey("none")) // makes the server look
	held, idle := f.dial(), f.dial()
	ask := func(conn net.Conn, request string) {
		t.Helper()
		if _, err := conn.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(conn net.Conn, status int, closing bool) {
		t.Helper()
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != status || response.Close != closing {
			t.Errorf("answered %d, asks for another connection: %t; want %d, %t", response.StatusCode, response.Close, status, closing)
		}
	}
	const meta, nothing = "GET /v1/meta HTTP/1.1\r\nHost: x\r\n\r\n", "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
	ask(idle, meta)
	answered(idle, http.StatusOK, false)
	ask(held, request("held", "timeout"))
	soon(t, "it is recorded", func() bool { return f.transactions() == 1 })
	close(f.release)
	answered(held, http.StatusCreated, true)
	ask(idle, nothing)
	answered(idle, http.StatusNotFound, true)
}

// Answers and events are due at the same time, and no event before its answer.
func TestEventIsNotDueBeforeItsAnswer(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	parent := f.paid("parent")
	f.config.LatencyPercent = 25
	f.sandbox(f.config, key)
	f.exec("update organizations set webhook_url = 'http://127.0.0.1:1/'")
	f.call("GET", "/v1/payments", nil, withKey("none"))
	for name, c := range map[string]struct {
		call func(reference string) response
		wait time.Duration
	}{
		"success": {func(r string) response {
			return f.call("POST", "/v1/payments", payment(r, object{"scenario": "success"}))
		}, 200 * time.Millisecond},
		"maintenance": {func(r string) response {
			return f.call("POST", "/v1/payments", payment(r, object{"scenario": "maintenance"}))
		}, 50 * time.Millisecond},
		"refund":                  {func(r string) response { return f.refund(parent, object{"amount": 1, "reference": r}) }, 200 * time.Millisecond},
		"refund beyond the float": {func(r string) response { return f.refund(parent, object{"amount": 999, "reference": r}) }, 150 * time.Millisecond},
		"disbursement":            {func(r string) response { return f.disburse(disbursement(r, object{"amount": 1})) }, 200 * time.Millisecond},
		"beyond the float":        {func(r string) response { return f.disburse(disbursement(r, object{"amount": 9999})) }, 150 * time.Millisecond},
		"unknown number":          {func(r string) response { return f.disburse(disbursement(r, object{"msisdn": "+250788999999"})) }, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "refund beyond the float" {
				f.disburse(disbursement("empty", object{"amount": f.float("RWF")})).is(t, 200, "SUCCESS")
				defer f.exec("update floats set balance = 500")
			}
			begun := time.Now()
			got := c.call(name)
			took := time.Since(begun)
			waited := read[float64](
				f,
				`select extract(epoch from e.due_at - t.created_at)::float8 * 1000 from events e join transactions t using (tenant, id)
				where t.reference = $1`,
				name,
			)
			if took < c.wait || waited != float64(c.wait.Milliseconds()) {
				t.Errorf("answered after %s, its event is due after %g ms; want %s: %s", took, waited, c.wait, got.raw)
			}
			if due := read[time.Time](
				f,
				"select e.due_at from events e join transactions t using (tenant, id) where t.reference = $1",
				name,
			); due.Before(
				begun.Add(c.wait),
			) {
				t.Errorf("its event is due at %s, its answer at %s", due, begun.Add(c.wait))
			}
		})
	}
	f.call("POST", "/v1/payments", payment("pending")).is(t, http.StatusCreated, "PENDING")
	if n := read[int](f, "select count(*) from events e join transactions t using (tenant, id) where t.reference = 'pending'"); n != 0 {
		t.Error("it has an event")
	}
}

// A sandbox that was told to answer at once does.
func TestNothingIsHeldAtZeroPercent(t *testing.T) {
	f := newFixture(t)
	f.heard()
	got := f.call("POST", "/v1/payments", payment("p1", object{"scenario": "timeout"}))
	if got.body["latencyMs"] != 25_000.0 || !strings.Contains(got.raw, "TIMEOUT") {
		t.Errorf("answered %s", got.raw)
	}
	if held := read[float64](f, "select extract(epoch from e.due_at - t.created_at)::float8 from events e join transactions t using (tenant, id)"); held != 0 {
		t.Errorf("its answer and its event are held for %g s", held)
	}
}
