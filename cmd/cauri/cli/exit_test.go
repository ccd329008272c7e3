package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Commands of each kind. All others use the API of a sandbox.
var (
	ofNoSandbox = []string{"stories", "verify"}
	ofACluster  = []string{"list", "use", "suspend", "resume", "rotate", "reset"}
	untilCtrlC  = []string{"tail", "listen"}
)

// Each command ends with each exit code that it can have. With -o json, standard output has JSON or nothing, and standard
// error has one JSON object if the code is not 0, and nothing otherwise. CAURI_EXIT_TABLE names a file that gets the table.
func TestExitCodesOfEachCommand(t *testing.T) {
	m := newExitMatrix(t)
	var names []string
	for _, command := range (&program{}).commands() {
		for _, one := range append([]*cobra.Command{command}, command.Commands()...) {
			if name := strings.TrimPrefix(one.CommandPath(), "cauri "); one.RunE != nil {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		cases := m.cases[name]
		if len(cases) == 0 {
			t.Errorf("%s has no line in exitCases", name)
		}
		for _, c := range append(m.common(name), cases...) {
			m.run(name, c)
		}
	}
	if file := os.Getenv("CAURI_EXIT_TABLE"); file != "" {
		text := "| command | exit code | called with | error | standard output | standard error |\n| --- | --- | --- | --- | --- | --- |\n" + strings.Join(m.rows, "")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// exitMatrix is a sandbox and a cluster for the commands.
type exitMatrix struct {
	t       *testing.T
	f       *fixture
	cluster *cluster
	dead    string // address of a server that ends each connection
	cases   map[string][]exitCase
	words   map[string]string // what stands for it in the arguments of a case
	rows    []string
}

func newExitMatrix(t *testing.T) *exitMatrix {
	m := &exitMatrix{t: t, f: newFixture(t)}
	m.f.config.API.Faults, m.f.config.API.TestClients = true, true
	m.f.apply(t)
	refreshed := until(t, func(ctx context.Context) error { m.f.directory.Run(ctx, 10*time.Millisecond); return nil })
	t.Cleanup(func() { _ = refreshed() })
	m.cluster = newCluster(t, m.f.url)
	m.cluster.applied = reconciled
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for connection, err := listener.Accept(); err == nil; connection, err = listener.Accept() {
			_ = connection.Close()
		}
	}()
	m.dead = "http://" + listener.Addr().String()
	request := "X-Service-Signature: " + webhooks.Signature(listenSecret, []byte(listenedEvent)) + "\r\nwebhook-id: evt_1\r\nwebhook-timestamp: 1780228800\r\n" +
		"webhook-signature: " + webhooks.StandardSignature(listenSecret, "evt_1", listenedAt, []byte(listenedEvent)) + "\r\n\r\n" + listenedEvent
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m.cases = exitCases(map[string]string{
		"met":     file("met.yaml", `{within: 1m, settle: 0s, expect: [{transactions: {count: ">=0"}}]}`),
		"unmet":   file("unmet.yaml", `{within: 1m, settle: 0s, expect: [{transactions: {count: 0}}]}`),
		"request": file("request.txt", request), "report": filepath.Join(folder, "report.zip"),
	})
	paid := decoded[wire.Payment](t, m.f.run("pay", "--scenario=success", "--amount=1000", "-o=json"))
	event := strings.TrimSpace(m.f.run("events", "-o=name").out)
	m.words = map[string]string{"PAID": paid.ID, "EVENT": event, "GOOD": graded(t, ""), "BAD": graded(t, "TIMEOUT")}
	return m
}

// common returns the calls that every command has, by its kind.
func (m *exitMatrix) common(name string) []exitCase {
	all := []exitCase{{code: 2, args: "--wrong", err: "invalid_arguments"}, {code: 2, args: "-o=xml"}}
	if slices.Contains(ofNoSandbox, name) || name == "check" || name == "report" { // these two report what does not answer
		return all
	}
	args := ""
	if cases := m.cases[name]; len(cases) > 0 && name != "grade" { // with a receiver it uses no sandbox
		args = cases[0].args
	}
	all = append(all, exitCase{code: 3, args: args + " REFUSED"}, exitCase{code: 4, args: args + " NO-ANSWER"})
	if !slices.Contains(ofACluster, name) && name != "listen" { // without a sandbox it receives events itself
		all = append(all, exitCase{code: 2, args: args + " NO-SANDBOX", err: "no_sandbox"})
	}
	return all
}

// arguments returns the command line of a case.
func (m *exitMatrix) arguments(name string, c exitCase) []string {
	args := strings.Fields(name)
	sandbox := []string{"--url=" + m.f.url, "--api-key=" + testKey}
	if slices.Contains(ofACluster, name) {
		sandbox = []string{"--kubeconfig=" + m.cluster.kubeconfig}
		if name != "list" && name != "use" {
			args = append(args, "checkout")
		}
	}
	for _, word := range strings.Fields(c.args) {
		switch {
		case word == "WAITS":
			word = strings.TrimSpace(m.f.run("pay", "--msisdn="+manual, "--wait=false", "-o=name").out)
		case word == "REFUSED" && len(sandbox) == 2:
			sandbox[1], word = "--api-key=wrong", ""
		case word == "NO-ANSWER" && len(sandbox) == 2:
			sandbox[0], word = "--url="+m.dead+"/sandboxes/a/b", ""
		case word == "NO-ANSWER":
			sandbox[0], word = "--kubeconfig="+m.cluster.moved("http://127.0.0.1:1"), ""
		case word == "NO-SANDBOX":
			sandbox, word = nil, ""
		case word == "REFUSED", word == "SLOW":
			word = ""
		}
		for name, value := range m.words {
			word = strings.Replace(word, name, value, 1)
		}
		if word != "" {
			args = append(args, word)
		}
	}
	if !slices.Contains(ofNoSandbox, name) {
		args = append(args, sandbox...)
	}
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-o=") }) {
		args = append(args, "-o=json")
	}
	return args
}

// moved returns a kubeconfig with the same cluster at another address.
func (c *cluster) moved(address string) string {
	text, err := os.ReadFile(c.kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	path := c.kubeconfig + "-moved"
	text = regexp.MustCompile(`"server":"[^"]+"`).ReplaceAll(text, []byte(`"server":"`+address+`"`))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// call calls the program. A command without an end is interrupted when it has printed something.
func (m *exitMatrix) call(name string, c exitCase, args []string) (out string, err error) {
	ctx, interrupt := context.WithCancel(m.t.Context())
	defer interrupt()
	p := &program{
		Options: Options{Config: m.t.TempDir(), Plugin: slices.Contains(ofACluster, name)}, now: time.Now, poll: 10 * time.Millisecond,
		await: 10 * time.Millisecond,
	}
	if name == "grade" {
		p.now = standing()
	}
	for _, at := range []string{"GET " + sandboxesOfTeam, "GET " + sandboxesOfTeam + "/checkout"} {
		m.cluster.denied[at] = strings.HasSuffix(c.args, "REFUSED")
	}
	if m.cluster.applied = reconciled; strings.HasSuffix(c.args, "SLOW") {
		m.cluster.applied = nil
	}
	var printed printedTo
	var progress bytes.Buffer
	if c.code == 0 && slices.Contains(untilCtrlC, name) {
		printed.first = interrupt
		m.f.run("faults", "on", "slow", "--msisdn=+250788000009") // it is printed at the start
		defer m.f.run("faults", "off", "--all")
	}
	err = p.runTo(ctx, &printed, &progress, "", args...)
	if progress.Len() > 0 && !strings.Contains(c.args, "xml") {
		m.t.Errorf("%q says beside its result: %s", args, &progress)
	}
	return printed.text.String(), err
}

// printedTo calls first when something is printed.
type printedTo struct {
	text  bytes.Buffer
	first func()
}

func (p *printedTo) Write(text []byte) (int, error) {
	if p.first != nil {
		p.first()
	}
	return p.text.Write(text)
}

// run runs a call, and compares its exit code and what it prints.
func (m *exitMatrix) run(name string, c exitCase) {
	m.t.Helper()
	if c.by != "" { // of the other columns nothing is known here
		m.rows = append(m.rows, fmt.Sprintf("| `%s` | %d | `%s` | %s | by %s | |\n", name, c.code, c.args, c.err, c.by))
		return
	}
	args := m.arguments(name, c)
	out, failure := m.call(name, c, args)
	said := ""
	if failure != nil {
		var text bytes.Buffer
		Complain(&text, args, failure)
		said = text.String()
	}
	var complained complaint
	switch {
	case ExitCode(failure) != c.code:
		m.t.Errorf("%q ends with %d, want %d: %v", args, ExitCode(failure), c.code, failure)
	case c.code == 0 && out == "" && said == "":
		m.t.Errorf("%q prints nothing", args)
	case c.code != 0 && (json.Unmarshal([]byte(said), &complained) != nil || strings.Count(said, "\n") != 1) && !strings.Contains(c.args, "xml"):
		m.t.Errorf("%q says %s", args, said)
	case c.err != "" && complained.Error != c.err && !strings.Contains(c.args, "xml"):
		m.t.Errorf("%q ends with the error %s, want %s: %s", args, complained.Error, c.err, complained.Message)
	}
	kind := "nothing"
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var value any
		err := decoder.Decode(&value)
		if err == io.EOF {
			break
		}
		object, is := value.(map[string]any)
		if err != nil || !is {
			m.t.Errorf("%q prints no JSON objects: %v\n%s", args, err, out)
			break
		}
		kind = "an object"
		if _, list := object["hasMore"]; list {
			kind = "a list"
		}
	}
	stderr := "nothing"
	if complained.Error != "" {
		stderr = "one JSON object"
	} else if said != "" {
		stderr = "text for people"
	}
	m.rows = append(m.rows, fmt.Sprintf("| `%s` | %d | `%s` | %s | %s | %s |\n", name, c.code, strings.TrimSpace(c.args), complained.Error, kind, stderr))
}
