package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

const (
	apiKey = "cauri_sk_test_process"
	// soon bounds what takes a moment on an idle machine.
	soon = time.Minute
)

// An answer that is held when the process is told to stop goes out at once, with its result; load balancers are told first, and what
// they still send is answered; then the process ends without an error.
func TestAPIEndsInOrder(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	sandbox(t, database, "")
	p, address, probes := startAPI(t, database, "--shutdown-delay=10s", "--log-level=debug")

	type result struct {
		status int
		body   string
		err    error
	}
	held := make(chan result, 1)
	go func() {
		status, body, err := payAs(t.Context(), address, "held", "timeout") // held for 250 s
		held <- result{status, body, err}
	}()
	begun := time.Now()
	eventually(t, "an answer is held", func() bool {
		_, metrics := get(probes, "/metrics")
		return strings.Contains(metrics, "cauri_api_held_answers 1")
	})
	isHeld := time.Now()
	time.Sleep(time.Second)
	heldFor := time.Since(isHeld) // at least
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r := <-held // while requests are still taken, below
	took := time.Since(begun)
	if r.err != nil || r.status != http.StatusCreated || !strings.Contains(r.body, "TIMEOUT") {
		t.Errorf("the held answer: %d %s %v", r.status, r.body, r.err)
	}
	if code, body := get(probes, "/readyz"); code != http.StatusServiceUnavailable || body != "the process is stopping\n" {
		t.Errorf("readiness while stopping: %d %q", code, body)
	}
	if code, _ := get(probes, "/healthz"); code != http.StatusOK {
		t.Errorf("liveness while stopping: %d", code)
	}
	if code, _ := get(address, "/v1/health"); code != http.StatusOK {
		t.Errorf("a request within the delay: %d", code)
	}
	_, metrics := get(probes, "/metrics")
	for _, want := range []string{
		`cauri_api_requests_total{code="201",method="POST",route="/v1/payments"} 1`,
		`cauri_api_requests_total{code="200",method="GET",route="/v1/health"} 1`,
		`cauri_api_payments_total{status="TIMEOUT",type="collection"} 1`, "cauri_api_held_answers 0", "cauri_api_config_sandboxes 1",
		`cauri_database_connections{state="idle"}`, `cauri_build_info{`, "go_goroutines", "process_cpu_seconds_total",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is missing in\n%s", want, metrics)
		}
	}
	var worked float64
	_, sum, _ := strings.Cut(metrics, `cauri_api_request_duration_seconds_sum{method="POST",route="/v1/payments"} `)
	if _, err := fmt.Sscan(sum, &worked); err != nil || worked > (took-heldFor).Seconds() {
		t.Errorf("an answer after %s, of which it was held for %s, counts as %g s of work, %v", took, heldFor, worked, err)
	}
	p.wait()
	if p.err != nil {
		t.Errorf("it ended with %v", p.err)
	}
	for _, secret := range []string{apiKey, "+250788000001"} {
		if strings.Contains(p.log.String(), secret) || strings.Contains(metrics, secret) {
			t.Errorf("%q is in the log or in the metrics", secret)
		}
	}
	if !strings.Contains(p.log.String(), `"msg":"request"`) {
		t.Error("requests are not in the log at the level of debugging")
	}
}

// Clients that hang, with or without a key, hold up the end of an api no longer than its 5 s, and no request that can be answered is lost.
func TestAPIEndsBesideClientsThatHang(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	sandbox(t, database, "")
	p, address, probes := startAPI(t, database)
	for _, server := range []string{address, probes} {
		for _, request := range []string{
			"", "GET", "GET /v1/meta HTTP/1.1\r\nHost: x\r\n", "GET /v1/meta HTTP/1.1\r\nHost: x\r\n\r\n",
			"POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
			"POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + apiKey +
				"\r\nContent-Length: 10\r\n\r\n{",
			"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
		} {
			conn, err := net.Dial("tcp", server)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "a request with half a body is on its way", func() bool {
		_, metrics := get(probes, "/metrics")
		return strings.Contains(metrics, "cauri_api_requests_in_flight 1")
	})
	// A second is left after the connections are closed. On a busy machine the api may need more, says so, and ends all the same.
	if p.terminate(); p.err != nil && !strings.Contains(p.log.String(), "the api did not finish within 4s") {
		t.Errorf("it ended with %v", p.err)
	}
}

// A database that hangs holds up the end of an api no longer than that, whatever requests wait for it.
func TestAPIEndsBesideADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	sandbox(t, database, "")
	proxy := newProxy(t, database)
	p, address, probes := startAPI(t, proxy.url)
	proxy.hang.Store(true)
	for i := range 3 {
		go func() { _, _, _ = pay(context.WithoutCancel(t.Context()), address, fmt.Sprint("r", i)) }() // nobody can answer it
	}
	eventually(t, "requests are on their way", func() bool {
		_, metrics := get(probes, "/metrics")
		return strings.Contains(metrics, "cauri_api_requests_in_flight 3")
	})
	p.terminate()
}

// A receiver that hangs holds up the end of a worker no longer than an attempt takes.
func TestWorkerEndsBesideAReceiverThatHangs(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	arrived, release := make(chan struct{}, 10), make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-release }))
	defer hook.Close()
	defer close(release)
	sandbox(t, database, hook.URL)
	_, address, _ := startAPI(t, database)
	if status, body, err := pay(t.Context(), address, "delivered"); status != http.StatusCreated {
		t.Fatal(status, body, err)
	}
	p := startWorker(t, database)
	select {
	case <-arrived:
	case <-time.After(soon):
		t.Fatal("nothing was sent")
	}
	if p.terminate(); p.err != nil {
		t.Errorf("it ended with %v", p.err)
	}
	if log := p.log.String(); !strings.Contains(log, `"msg":"delivery attempt"`) || strings.Contains(log, "whsec_") {
		t.Error("the attempt is not in the log, or a secret is")
	}
}

// A database that does not answer makes a worker unready, and neither counts as a reason to start it again nor holds up its end.
func TestWorkerEndsBesideADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	proxy := newProxy(t, database)
	p := startWorker(t, proxy.url)
	probes := p.addresses["worker's probes and metrics"]
	eventually(t, "the worker is ready", func() bool { code, _ := get(probes, "/readyz"); return code == http.StatusOK })
	eventually(t, "the queues are readQueueStatistics", func() bool {
		_, metrics := get(probes, "/metrics")
		return strings.Contains(metrics, `cauri_worker_queue_oldest_due_seconds{queue="events"} 0`)
	})
	proxy.hang.Store(true)
	eventually(t, "the worker is not ready", func() bool { code, _ := get(probes, "/readyz"); return code == http.StatusServiceUnavailable })
	if code, body := get(probes, "/healthz"); code != http.StatusOK {
		t.Errorf("liveness while the database hangs: %d %s", code, body)
	}
	p.terminate()
}

func TestAddressInUseEndsTheProcess(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().String()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"api":    {[]string{"serve", "api", "--listen-address=" + taken, "--health-address=127.0.0.1:0"}, "listening for the API: "},
		"probes": {[]string{"serve", "api", "--listen-address=127.0.0.1:0", "--health-address=" + taken}, "listening for the api's probes and metrics: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := launch(t, "postgres://127.0.0.1:1/none", c.args...)
			p.follow(make(chan [2]string, 2))
			p.wait()
			var exit *exec.ExitError
			if !errors.As(p.err, &exit) || exit.ExitCode() != cli.ExitUsage {
				t.Errorf("it ended with %v", p.err)
			}
			if log := p.log.String(); !strings.Contains(log, c.want) || !strings.Contains(log, taken) || !strings.Contains(log, "is used by another program") {
				t.Errorf("it said %s", log)
			}
		})
	}
}

func TestShutdownDelayLeavesTimeForWhatRuns(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{-time.Second, 16 * time.Second} {
		err := apiOptions{shutdownDelay: delay}.check()
		if err == nil || !strings.Contains(err.Error(), "--shutdown-delay="+delay.String()) {
			t.Errorf("%s: got %v", delay, err)
		}
	}
}

func TestClockOffset(t *testing.T) {
	t.Parallel()
	if off := time.Until(clock(5 * time.Minute)()); off < 4*time.Minute || off > 6*time.Minute {
		t.Errorf("a clock that is 5 minutes ahead is off by %s", off)
	}
	if off := time.Until(offsetClock{offset: -time.Hour}.Now()); off > -59*time.Minute {
		t.Errorf("a clock that is an hour behind is off by %s", off)
	}
	for _, cmd := range newServeCommand().Commands() {
		flag := cmd.Flags().Lookup("test-clock-offset")
		switch cmd.Name() {
		case "api", "worker", "controller":
			if flag == nil || !flag.Hidden {
				t.Errorf("%s: the flag is missing or shown", cmd.Name())
			}
		}
	}
}
