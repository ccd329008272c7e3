// Package dev tests `cauri dev` from outside: the process, its output and files, and its API.
package dev

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/ports"
)

// The specification holds without Kubernetes as it does with it: test/e2e runs the same suite on a cluster.
func TestConformance(t *testing.T) {
	t.Parallel()
	webhook := "127.0.0.1:" + ports.ForTest(t)
	fixtures, err := os.ReadFile("../conformance/sandbox.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, "sandbox.yaml", strings.ReplaceAll(string(fixtures), "127.0.0.1:9099", webhook))
	p := start(t, "--file", file, "--database-url", newDatabase(t), "--quiet")
	suite := exec.CommandContext(t.Context(), "go", "run", "../conformance", "-timeout", "30m", "-url", p.uri, "-key", p.key, "-webhook", webhook,
		"-secret", p.secret)
	out, err := suite.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 0 not checked") {
		t.Errorf("the suite found differences from the specification, or left something out: %v\n%s", err, out)
	}
}

// The whole of a pipeline: chosen credentials, a payment, its event, and a line for each.
func TestChosenCredentials(t *testing.T) {
	t.Parallel()
	key, secret := "cauri_sk_test_"+strings.Repeat("a", 32), "the pipeline's secret is $HOME="
	events := make(chan http.Header, 10)
	hook, stopHook := receiver(t, events)
	defer stopHook()
	p := start(t, "--database-url", newDatabase(t), "--key", key, "--webhook-secret", secret, "--webhook-url", hook)
	p.awaitOutput("Bringing the tables up to date", "Applying the resources", "Cauri is ready at") // a start may take seconds
	if p.key != key || p.secret != secret {
		t.Errorf("the environment file has %s and %s", p.key, p.secret)
	}
	if info, err := os.Stat(p.envFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the environment file: %v, %v", info.Mode(), err)
	}
	id := p.pay("first", "success")
	if header := <-events; header.Get("X-Service-Event") != "payment.completed" {
		t.Errorf("the event has the headers %v", header)
	}
	p.awaitOutput("collection              "+id, "payment.completed", "attempt 1", "delivered")
	if numbers := p.get("/v1/test_numbers"); fmt.Sprint(numbers["data"]) == "[]" {
		t.Errorf("the test numbers are %v", numbers)
	}
	fault := strings.NewReader(`{"when":{"reference":"none"},"api":{"delay":"1s"},"for":"15m"}`)
	if set := p.call(http.MethodPut, p.base+"/v1/faults/slow", fault); set["error"] != nil {
		t.Errorf("the fault was answered with %v", set)
	}
	p.awaitOutput("on, set with the API key, ends in")
	if page := p.page("/docs"); !strings.Contains(page, "+2250506123456") || !strings.Contains(page, "&#34;XOF&#34;") {
		t.Error("the examples of /docs are not of the sample's first country")
	}
	if reset := p.call(http.MethodPost, p.uri+"/api/v1/reset", strings.NewReader("{}")); reset["error"] != nil {
		t.Errorf("the reset was answered with %v", reset)
	}
	p.awaitOutput("off, removed")
	p.pay("first", "success") // nobody knows the first one any more
	if health := p.get("/v1/health"); health["status"] != "ok" {
		t.Errorf("health is %v", health)
	}
	p.stop()
	for _, file := range []string{p.readyFile} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is left", file)
		}
	}
}

// Nothing that was answered is lost when the process is killed, and the sandbox is the same one afterwards.
func TestKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	data := passableFolder(t) + "/data"
	first := start(t, "--data", data)
	id := first.pay("kept", "success")
	second := launch(t, "--data", data)
	if err := second.cmd.Wait(); err == nil || !strings.Contains(second.output.String(), "another `cauri dev` uses --data="+data) {
		t.Errorf("a second process ends with %v\n%s", err, second.output)
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait()
	again := start(t, "--data", data)
	if again.key != first.key || again.secret != first.secret {
		t.Errorf("the credentials are others than before")
	}
	if payment := again.get("/v1/payments/" + id); payment["status"] != "SUCCESS" {
		t.Errorf("the payment is %v", payment)
	}
	again.stop()
}

func TestTemporaryDataAreRemoved(t *testing.T) {
	t.Parallel()
	folder := passableFolder(t)
	p := startIn(t, []string{"TMPDIR=" + folder})
	p.pay("gone", "success")
	p.stop()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// Ctrl-C at any moment of the start ends the process without an error, and leaves nothing.
func TestInterruptedAtTheStart(t *testing.T) {
	t.Parallel()
	folder := passableFolder(t)
	for _, after := range []time.Duration{0, 400 * time.Millisecond, time.Second} {
		p := launchIn(t, []string{"TMPDIR=" + folder})
		p.eventually("the folder of the data is there", func() bool {
			made, err := os.ReadDir(folder)
			return err == nil && len(made) > 0
		})
		time.Sleep(after)
		p.stop()
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	const one = `{apiVersion: cauri.dev/v1alpha1, kind: SandboxEnvironment, metadata: {name: %s}, spec: {environments: [{operator: mtn, country: RW}],
  stores: [{slug: shop}]}}`
	file := write(t, "sandbox.yaml", fmt.Sprintf(one, "one"))
	p := start(t, "--database-url", newDatabase(t), "--file", file, "--watch")
	change := func(text string, want ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.awaitOutput(want...)
	}
	change(strings.Replace(fmt.Sprintf(one, "one"), "mtn", "vodafone", 1), "Nothing was changed", "sandbox.yaml, document 1", "vodafone")
	p.pay("still-there", "success")
	change(strings.Replace(fmt.Sprintf(one, "one"), "[{", "[{operator: airtel, country: RW}, {", 1), "env has other variables: read it again")
	if text, err := os.ReadFile(p.envFile); err != nil || !strings.Contains(string(text), "CAURI_AIRTEL_CLIENT_ID") {
		t.Error("the file of --env-file lacks the credentials of the operator that was added")
	}
	change(fmt.Sprintf(one, "one")+"\n---\n"+fmt.Sprintf(one, "two"), "sandboxenvironment.cauri.dev/two created",
		"env is as before: --env-file is for one sandbox, and there are 2")
}

func TestVerdictsArePrinted(t *testing.T) {
	t.Parallel()
	const expected = "---\napiVersion: cauri.dev/v1alpha1\nkind: Expectation\nmetadata: {name: %s}\n" +
		"spec: {sandboxRef: {name: one}, settle: 0s, within: 10m, expect: [{transactions: {count: %d}}]}\n"
	file := write(t, "one.yaml", sandboxNamed("one")+fmt.Sprintf(expected, "paid-once", 1)+fmt.Sprintf(expected, "unpaid", 0)+
		strings.Replace(fmt.Sprintf(expected, "never-paid", 0), "settle: 0s", "settle: 10m", 1))
	p := start(t, "--database-url", newDatabase(t), "--quiet", "-f", file)
	p.awaitOutput("The expectation default/unpaid is met.\n")
	p.pay("first", "success")
	p.awaitOutput("The expectation default/paid-once is met.\n",
		"The expectation default/never-paid has failed: transactions: 0. Observed: 1 transaction. The line cannot be met any more.\n")
	if n := strings.Count(p.output.String(), "default/unpaid is met"); n != 1 {
		t.Errorf("a verdict is printed %d times", n)
	}
}

func TestWhatIsWrongAtTheStart(t *testing.T) {
	t.Parallel()
	foreign := newDatabase(t)
	execute(t, foreign, "create table orders ()")
	cluster := newDatabase(t)
	execute(t, cluster, "create table config_version (); create table organizations ()")
	used := newDatabase(t)
	start(t, "--database-url", used)
	two := write(t, "two.yaml", sandboxNamed("one")+"---\n"+sandboxNamed("two"))
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	_, port, _ := net.SplitHostPort(busy.Addr().String())
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"another program's tables": {[]string{"--database-url", foreign}, "tables that are not Cauri's (orders)"},
		"a cluster's database":     {[]string{"--database-url", cluster}, "that of a Cauri that runs in a cluster"},
		"a database in use":        {[]string{"--database-url", used}, "another `cauri dev` uses this database"},
		"a database that is away":  {[]string{"--database-url", "postgres://127.0.0.1:1/x", "--wait=0"}, "does not answer"},
		"a wrong resource":         {[]string{"-f", write(t, "bad.yaml", strings.Replace(sandboxNamed("x"), "mtn", "vodafone", 1))}, "vodafone"},
		"a Secret that is nowhere": {[]string{"--database-url", newDatabase(t), "-f", write(t, "missing.yaml", strings.Replace(sandboxNamed("x"),
			"spec: {", `spec: {webhook: {url: "http://127.0.0.1:1", signingSecretRef: {name: nowhere, key: x}}, `, 1))}, "nowhere"},
		"a Secret without the label": {[]string{"--database-url", newDatabase(t), "-f", write(t, "unlabeled.yaml", strings.Replace(sandboxNamed("x"),
			"spec: {", `spec: {webhook: {url: "http://127.0.0.1:1", signingSecretRef: {name: mine, key: x}}, `, 1)+
			"\n---\n{apiVersion: v1, kind: Secret, metadata: {name: mine}, stringData: {x: any-text-of-16-characters}}\n")}, "cauri.dev/sandbox-may-read=true"},
		"no file":                 {[]string{"-f", "/nowhere.yaml"}, "/nowhere.yaml"},
		"a short key":             {[]string{"--key", "cauri_sk_test_short"}, "at least 32"},
		"a key for two sandboxes": {[]string{"-f", two, "--key", "cauri_sk_test_" + strings.Repeat("b", 32)}, "for one sandbox"},
		"two in one file":         {[]string{"-f", two, "--database-url", newDatabase(t)}, "--env-file is for one sandbox, and there are 2"},
		"a port that is taken":    {[]string{"--port", port}, "choose another port"},
		"two databases":           {[]string{"--data", "x", "--database-url", used}, "leave one of them out"},
	} {
		t.Run(name, func(t *testing.T) {
			p := launch(t, test.args...)
			err := p.cmd.Wait()
			code := p.cmd.ProcessState.ExitCode()
			wanted := 2 // flags, and files that they name
			switch name {
			case "another program's tables", "a cluster's database", "a database in use":
				wanted = 3
			case "a database that is away":
				wanted = 4
			}
			if err == nil || code != wanted || !strings.Contains(p.output.String(), test.want) {
				t.Errorf("it ends with %v and says\n%s\nwant %d, and %q in it", err, p.output, wanted, test.want)
			}
		})
	}
}

// The merchant's own DATABASE_URL is not touched.
func TestDatabaseURLIsTheMerchants(t *testing.T) {
	t.Parallel()
	theirs := newDatabase(t)
	ours := newDatabase(t)
	execute(t, ours, "create schema dev; create table orders ()") // a schema of its own is enough
	startIn(t, []string{"DATABASE_URL=" + theirs, "CAURI_DATABASE_URL=" + ours + "&search_path=dev"}).pay("first", "success")
	if n := count(t, theirs, "select count(*) from pg_class where relnamespace = current_schema()::regnamespace"); n != 0 {
		t.Errorf("%d relations were made in DATABASE_URL", n)
	}
}

func sandboxNamed(name string) string {
	return "apiVersion: cauri.dev/v1alpha1\nkind: SandboxEnvironment\nmetadata: {name: " + name + "}\n" +
		"spec: {environments: [{operator: mtn, country: RW}], stores: [{slug: shop}]}\n"
}

// process is a `cauri dev`.
type process struct {
	t                      *testing.T
	cmd                    *exec.Cmd
	output                 *output
	envFile, readyFile     string
	opened                 string // file with the URL that the browser of the process has opened
	base, uri, key, secret string
}

// launch starts a process on a free port and does not wait for it.
func launch(t *testing.T, args ...string) *process { return launchIn(t, nil, args...) }

func launchIn(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	folder := t.TempDir()
	p := &process{t: t, output: &output{}, envFile: filepath.Join(folder, "env"), readyFile: filepath.Join(folder, "ready")}
	p.cmd = exec.Command(program, append([]string{"dev", "--port=0", "--env-file", p.envFile, "--ready-file", p.readyFile}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.Env = append(os.Environ(), env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			_ = p.cmd.Wait()
		}
	})
	return p
}

// start starts a process and waits until it is ready.
func start(t *testing.T, args ...string) *process { return startIn(t, nil, args...) }

func startIn(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := launchIn(t, env, args...)
	p.eventually("it is ready", func() bool {
		_, err := os.Stat(p.readyFile)
		return err == nil
	})
	ready, err := os.ReadFile(p.readyFile)
	if err != nil {
		t.Fatal(err)
	}
	p.base = strings.TrimSpace(string(ready))
	const show = `. "$1"; printf '%s\n' "$CAURI_URI" "$CAURI_API_KEY" "$CAURI_WEBHOOK_SECRET"`
	text, err := exec.Command("sh", "-euc", show, "sh", p.envFile).CombinedOutput()
	if err != nil {
		t.Fatalf("a shell reads the environment file: %v\n%s", err, text)
	}
	values := strings.Split(string(text), "\n")
	p.uri, p.key, p.secret = values[0], values[1], values[2]
	return p
}

// stop ends the process in order.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("it ended with %v\n%s", err, p.output)
	}
}

const patience = 3 * time.Minute // that of a machine which does much else

func (p *process) eventually(what string, so func() bool) {
	p.t.Helper()
	for begun := time.Now(); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			p.t.Fatalf("not so within %s: %s\n%s", patience, what, p.output)
		}
	}
}

func (p *process) awaitOutput(want ...string) {
	p.t.Helper()
	for _, text := range want {
		p.eventually(fmt.Sprintf("the output has %q", text), func() bool { return strings.Contains(p.output.String(), text) })
	}
}

// pay makes a payment with a scenario and returns its id.
func (p *process) pay(reference, scenario string) string {
	p.t.Helper()
	body := fmt.Sprintf(`{"amount":1500,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"+250788000001","reference":%q,
		"application":"shop","scenario":%q}`, reference, scenario)
	payment := p.call(http.MethodPost, p.uri+"/api/v1/payments", strings.NewReader(body))
	if payment["status"] != strings.ToUpper(scenario) {
		p.t.Fatalf("the payment is %v", payment)
	}
	return fmt.Sprint(payment["id"])
}

func (p *process) get(path string) map[string]any {
	p.t.Helper()
	return p.call(http.MethodGet, p.base+path, nil)
}

// page returns the text of a page.
func (p *process) page(path string) string {
	p.t.Helper()
	answer, err := http.Get(p.base + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%s is answered %d, %v", path, answer.StatusCode, err)
	}
	return string(text)
}

func (p *process) call(method, url string, body io.Reader) (content map[string]any) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, url, body)
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.output)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(&content); err != nil {
		p.t.Fatal(err)
	}
	return content
}
