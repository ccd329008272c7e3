package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
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

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
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

// terminate asks the process to end, and waits until it has.
func (p *running) terminate() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	p.wait()
}

func (p *running) wait() {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(soon):
		p.t.Fatalf("it still runs after %s", soon)
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
	config := sandboxes.Config{
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
	p = start(t, database, 2, append([]string{"serve", "api", "--listen-address=127.0.0.1:0", "--health-address=127.0.0.1:0"}, flags...)...)
	address, probes = p.addresses["API"], p.addresses["api's probes and metrics"]
	eventually(t, "the api is ready", func() bool { code, _ := get(probes, "/readyz"); return code == http.StatusOK })
	return p, address, probes
}

func startWorker(t *testing.T, database string) *running {
	t.Helper()
	key := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(key, []byte("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, database, 1, "serve", "worker", "--health-address=127.0.0.1:0", "--encryption-key-file="+key, "--allow-loopback-webhooks")
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
