package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	apiKey = "cauri_sk_test_process"
	// soon bounds what takes a moment on an idle machine.
	soon = time.Minute
	// slack is what a busy machine may add to a time that a process keeps by itself.
	slack = 15 * time.Second
)

// binary is the program, built at most once, into buildFolder.
var (
	binary      = sync.OnceValues(func() (string, error) { return system.Build(context.Background(), buildFolder) })
	buildFolder string
)

func TestMain(m *testing.M) {
	var err error
	if buildFolder, err = os.MkdirTemp("", "cauri-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(buildFolder)
	os.Exit(code)
}

// running is a process of the program under test.
type running struct {
	t         *testing.T
	cmd       *exec.Cmd
	addresses map[string]string // by what they are for
	log       strings.Builder   // to be read once exited is closed
	exited    chan struct{}
	err       error
}

// start starts the program and waits until it listens on so many addresses.
func start(t *testing.T, database string, listens int, args ...string) *running {
	t.Helper()
	p := launch(t, database, args...)
	deadline := time.After(soon)
	found := make(chan [2]string)
	p.follow(found)
	for len(p.addresses) < listens {
		select {
		case at := <-found:
			p.addresses[at[0]] = at[1]
		case <-deadline:
			t.Fatalf("%v listens on %v only", args, p.addresses)
		case <-p.exited:
			t.Fatalf("%v ended: %v\n%s", args, p.err, p.log.String())
		}
	}
	return p
}

func launch(t *testing.T, database string, args ...string) *running {
	t.Helper()
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &running{t: t, addresses: map[string]string{}, exited: make(chan struct{}), cmd: exec.Command(program, args...)}
	p.cmd.Env = append(os.Environ(), "DATABASE_URL="+database)
	return p
}

// follow starts the process and reads its log.
func (p *running) follow(found chan<- [2]string) {
	p.t.Helper()
	log, err := p.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended in most cases
		<-p.exited
		if p.t.Failed() {
			p.t.Logf("%v:\n%s", p.cmd.Args, p.log.String())
		}
	})
	go func() {
		defer close(p.exited)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			fmt.Fprintln(&p.log, lines.Text())
			var line struct{ Msg, For, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
				select {
				case found <- [2]string{line.For, line.Address}:
				case <-time.After(soon):
				}
			}
		}
		p.err = p.cmd.Wait()
	}()
}

// terminate asks the process to end and returns how long that took.
func (p *running) terminate() time.Duration {
	p.t.Helper()
	begun := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	p.wait(time.Minute)
	return time.Since(begun)
}

func (p *running) wait(within time.Duration) {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		p.t.Fatalf("it still runs after %s", within)
	}
}

// get asks for a path and returns the status, 0 for no answer, and the body.
func get(address, path string) (int, string) {
	client := http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(soon); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", soon, what)
		}
	}
}

// sandbox makes a sandbox whose answers are held for seconds, and whose events go to a URL if there is one.
func sandbox(t *testing.T, database, hook string) {
	t.Helper()
	db := ledgertest.Open(t, database)
	config := sandboxes.SandboxConfig{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "team", Name: "checkout", Stores: []string{"shop"}, LatencyPercent: 1000,
		Environments: []sandboxes.EnvironmentConfig{{Operator: payments.MTN, Country: "RW", Enabled: true, UnknownPolicy: payments.Reject}},
		OpeningFloat: map[payments.Currency]int64{payments.RWF: 1000},
	}
	if hook != "" {
		config.LatencyPercent = 0
		config.Webhook = &sandboxes.WebhookConfig{URL: hook, Retry: sandboxes.RetryPolicy{MaxRetries: 3, InitialDelay: time.Second, Factor: 1,
			MaxDelay: time.Second}}
	}
	if _, err := db.ApplySandbox(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := db.ApplyCredentials(t.Context(), config.UID, sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(apiKey)),
		SigningSecret: "whsec_dGVzdA=="}); err != nil {
		t.Fatal(err)
	}
}

// pay makes a payment that ends at once.
func pay(ctx context.Context, address, reference string) (status int, body string, err error) {
	return payAs(ctx, address, reference, "blocked")
}

// payAs makes a payment with a scenario.
func payAs(ctx context.Context, address, reference, scenario string) (status int, body string, err error) {
	return payBy(ctx, address,
		`{"amount":100,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"+250788000001","reference":"`+reference+
			`","application":"shop","scenario":"`+scenario+`"}`)
}

func payBy(ctx context.Context, address, body string) (status int, answered string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v1/payments", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

func startAPI(t *testing.T, database string, flags ...string) (p *running, address, probes string) {
	t.Helper()
	p = start(t, database, 2, append([]string{"api", "--listen-address=127.0.0.1:0", "--health-address=127.0.0.1:0"}, flags...)...)
	address, probes = p.addresses["API"], p.addresses["api's probes and metrics"]
	eventually(t, "the api is ready", func() bool { code, _ := get(probes, "/readyz"); return code == http.StatusOK })
	return p, address, probes
}

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
	eventually(t, "an answer is held", func() bool {
		_, metrics := get(probes, "/metrics")
		return strings.Contains(metrics, "cauri_api_held_answers 1")
	})
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r := <-held // while requests are still taken, below
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
		`cauri_api_request_duration_seconds_bucket{method="POST",route="/v1/payments",le="1"} 1`, // although it was held for longer than its work
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is missing in\n%s", want, metrics)
		}
	}
	p.wait(20 * time.Second)
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
	if took := p.terminate(); took > 5*time.Second+slack || p.err != nil {
		t.Errorf("it ended after %s with %v", took, p.err)
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
	if took := p.terminate(); took > 5*time.Second+slack {
		t.Errorf("it ended after %s", took)
	}
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
	if took := p.terminate(); took > 15*time.Second+slack || p.err != nil {
		t.Errorf("it ended after %s with %v", took, p.err)
	}
	if log := p.log.String(); !strings.Contains(log, `"msg":"delivery attempt"`) || strings.Contains(log, "whsec_") {
		t.Error("the attempt is not in the log, or a secret is")
	}
}

func startWorker(t *testing.T, database string) *running {
	t.Helper()
	key := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(key, []byte("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, database, 1, "worker", "--health-address=127.0.0.1:0", "--encryption-key-file="+key, "--allow-loopback-webhooks")
}

// A database that does not answer makes a worker unready, and neither counts as a reason to start it again nor holds up its end.
func TestWorkerEndsBesideADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	proxy := newProxy(t, database)
	p := startWorker(t, proxy.url)
	probes := p.addresses["worker's probes and metrics"]
	eventually(t, "the worker is ready", func() bool { code, _ := get(probes, "/readyz"); return code == http.StatusOK })
	eventually(t, "the queues are surveyed", func() bool {
		_, metrics := get(probes, "/metrics")
		return strings.Contains(metrics, `cauri_worker_queue_oldest_due_seconds{queue="events"} 0`)
	})
	proxy.hang.Store(true)
	eventually(t, "the worker is not ready", func() bool { code, _ := get(probes, "/readyz"); return code == http.StatusServiceUnavailable })
	if code, body := get(probes, "/healthz"); code != http.StatusOK {
		t.Errorf("liveness while the database hangs: %d %s", code, body)
	}
	if took := p.terminate(); took > 15*time.Second+slack {
		t.Errorf("it ended after %s", took)
	}
}

// proxy stands between a process and its database, and can stop forwarding.
type proxy struct {
	url     string
	hang    atomic.Bool
	refuse  atomic.Bool  // connections end as soon as they begin
	refused atomic.Int32 // of them
}

func newProxy(t *testing.T, database string) *proxy {
	t.Helper()
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := &proxy{}
	server := at.Host
	at.Host = listener.Addr().String()
	p.url = at.String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			if p.refuse.Load() {
				_ = client.Close()
				p.refused.Add(1)
				continue
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			go p.forward(client, upstream)
			go p.forward(upstream, client)
		}
	}()
	return p
}

func (p *proxy) forward(from, to net.Conn) {
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err == nil && p.hang.Load() {
			continue // swallowed, until from is closed
		}
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			_ = to.Close()
			return
		}
	}
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
		"api":    {[]string{"api", "--listen-address=" + taken, "--health-address=127.0.0.1:0"}, "listening for the API: "},
		"probes": {[]string{"api", "--listen-address=127.0.0.1:0", "--health-address=" + taken}, "listening for the api's probes and metrics: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := launch(t, "postgres://127.0.0.1:1/none", c.args...)
			p.follow(make(chan [2]string, 2))
			p.wait(soon)
			var exit *exec.ExitError
			if !errors.As(p.err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("it ended with %v", p.err)
			}
			if log := p.log.String(); !strings.Contains(log, c.want) || !strings.Contains(log, taken) || !strings.Contains(log, "in use") {
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
	for _, cmd := range newRootCommand().Commands() {
		flag := cmd.Flags().Lookup("test-clock-offset")
		switch cmd.Name() {
		case "api", "worker", "controller":
			if flag == nil || !flag.Hidden {
				t.Errorf("%s: the flag is missing or shown", cmd.Name())
			}
		}
	}
}
