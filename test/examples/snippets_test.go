package examples

import (
	"context"
	"encoding/json"
	"go/format"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/controllers/localapi"
	"github.com/cauri-dev/cauri/test/ports"
	"github.com/cauri-dev/cauri/test/snippets"
)

// TestSnippets runs the snippets of each document as they stand there, those of a document one after the other. Where the document has not
// started one, they run against one `cauri dev` with its sample. Only the ports 8080 and 3000 are others, so that tests run beside it.
func TestSnippets(t *testing.T) {
	t.Parallel()
	needNode(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer receiver.Close()
	at, err := url.Parse(receiver.URL)
	if err != nil {
		t.Fatal(err)
	}
	environment, apiPort := filepath.Join(t.TempDir(), "env"), ports.ForTest(t)
	startDev(t, nil, "--port="+apiPort, "--env-file="+environment, "--webhook-url="+receiver.URL+"/webhooks")
	variables, err := os.ReadFile(environment)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range snippets.Documents(t, root) {
		t.Run(document, func(t *testing.T) {
			var s *session
			for _, one := range snippets.Of(t, root, document) {
				if one.NotRun() != "" {
					parse(t, one)
					continue
				}
				if s == nil {
					s = newSession(t, strings.Fields(string(variables)), apiPort, at.Port())
				}
				s.run(one)
			}
		})
	}
}

// parse checks the form of a snippet that is not run.
func parse(t *testing.T, s snippets.Snippet) {
	t.Helper()
	for _, marker := range []string{"given", "prints", "file"} {
		if s.RunBy() == "" && s.Marks[marker] != "" {
			t.Errorf("%s is not run, and has the mark %q", s, marker)
		}
	}
	checked := func(program ...string) {
		if _, err := exec.LookPath(program[0]); err != nil {
			t.Logf("%s is not parsed: %s is not installed", s, program[0])
			return
		}
		check := exec.CommandContext(t.Context(), program[0], program[1:]...)
		check.Stdin = strings.NewReader(s.Body)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", s, err, out)
		}
	}
	switch s.Language {
	case "sh":
		checked("bash", "-n")
		for _, document := range hereDocument.FindAllStringSubmatch(s.Body, -1) {
			if strings.Contains(document[1], "cauri.dev/") {
				checkResources(t, s, document[1])
			}
		}
	case "console":
		for _, line := range strings.Split(s.Body, "\n") {
			if command, is := strings.CutPrefix(line, "$ "); is {
				s.Body = command
				checked("bash", "-n")
			}
		}
	case "yaml":
		var content any
		if err := yaml.UnmarshalStrict([]byte(s.Body), &content); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	case "go":
		if _, err := format.Source([]byte(s.Body)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	case "js":
		kind := "commonjs"
		if strings.HasPrefix(s.Body, "import ") {
			kind = "module"
		}
		checked("node", "--check", "--input-type="+kind, "-")
	case "python":
		checked("python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())")
	case "php":
		checked("php", "-l")
	case "json":
		if !json.Valid([]byte(s.Body)) {
			t.Errorf("%s is no JSON", s)
		}
	// java is compiled by who runs it; of the others there is no parser here
	case "", "csv", "java", "mermaid", "powershell", "promql", "sql", "text":
	default:
		t.Errorf("%s has the language %q, which nothing parses", s, s.Language)
	}
}

var hereDocument = regexp.MustCompile(`(?s)<<'?END'?\n(.*?)\nEND\n`)

// checkResources checks resources of Cauri as `cauri dev` and a cluster do. A part of a sandbox may begin with its spec.
func checkResources(t *testing.T, s snippets.Snippet, text string) {
	t.Helper()
	if strings.HasPrefix(text, "spec:\n") {
		text = "apiVersion: cauri.dev/v1alpha1\nkind: SandboxEnvironment\nmetadata: {name: shop}\n" + text
		if !strings.Contains(text, "\n  environments:") {
			text += "  environments: [{operator: mtn, country: RW}]\n"
		}
	}
	if !strings.Contains(text, "kind: ") {
		t.Errorf("%s has no resource", s)
	}
	manifests, err := localapi.Parse(s.String(), []byte(text))
	if err != nil {
		t.Error(err)
		return
	}
	api, err := localapi.New(t.Context(), localapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := api.Check(manifests); err != nil {
		t.Error(err)
	}
}

// session is a reader of a document with the `cauri dev` that the document has started.
type session struct {
	*snippets.Shell
	dev *exec.Cmd
}

func newSession(t *testing.T, variables []string, apiPort, shopPort string) *session {
	t.Helper()
	s := &session{Shell: snippets.NewShell(t, strings.NewReplacer(":8080", ":"+apiPort, ":3000", ":"+shopPort), variables...)}
	s.Link(s.Folder, filepath.Join(root, "examples"), filepath.Join(root, "config"))
	if err := os.Symlink(program(t), filepath.Join(s.State, "cauri")); err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	startsDev = regexp.MustCompile(`(?m)^cauri dev\b`)
	// failed is the status of a payment that no reader expects.
	failed = regexp.MustCompile(`"status":"(UNKNOWN_MSISDN|INSUFFICIENT_FUNDS|ACCOUNT_BLOCKED|LIMIT_EXCEEDED|SERVICE_UNAVAILABLE|FAILED)"`)
)

// run runs a snippet and fails the test if it fails.
func (s *session) run(one snippets.Snippet) {
	s.Helper()
	s.Prepare(one)
	switch one.Language {
	case "sh":
		if startsDev.MatchString(one.Body) {
			s.startDev(one)
			return
		}
		if out := s.Run(one); failed.MatchString(out) {
			s.Errorf("%s: %s\n%s", one, failed.FindString(out), out)
		}
	case "yaml":
		checkResources(s.T, one, one.Body)
	case "json":
		if !json.Valid([]byte(one.Body)) {
			s.Errorf("%s is not JSON", one)
		}
	case "text":
		s.printedByDev(one)
	default:
		s.Errorf("%s: nothing runs a snippet of the language %q: give it a mark, for example <!-- not run: why -->", one, one.Language)
	}
}

// startDev runs the snippet that starts `cauri dev`, in place of the one before it, on another port. It returns when the sandbox is ready.
func (s *session) startDev(one snippets.Snippet) {
	s.Helper()
	s.stopDev()
	port, shopPort := ports.ForTest(s.T), ports.ForTest(s.T)
	s.Replace = strings.NewReplacer(":8080", ":"+port, ":3000", ":"+shopPort)
	ready := filepath.Join(s.Folder, "ready")
	out, err := os.Create(filepath.Join(s.Folder, ".dev"))
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	s.Append("variables", "export PORT="+shopPort+"\n")
	dev := s.Bash(context.Background(), "trap : TERM\n"+one.Body+"\nwait || wait\n", out)
	dev.Env = append(dev.Env, "CAURI_PORT="+port, "CAURI_READY_FILE="+ready, "CAURI_API_KEY=", "CAURI_WEBHOOK_SECRET=")
	if err := dev.Start(); err != nil {
		s.Fatal(err)
	}
	s.dev = dev
	s.Cleanup(s.stopDev)
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			return
		}
		if time.Since(begun) > snippets.Patience {
			s.Fatalf("%s is not ready:\n%s", one, s.printed())
		}
	}
}

func (s *session) stopDev() {
	if s.dev == nil {
		return
	}
	_ = syscall.Kill(-s.dev.Process.Pid, syscall.SIGTERM)
	_ = s.dev.Wait()
	s.dev = nil
}

// varying is what another run of `cauri dev` prints in another way.
var varying = regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?|\b(TX|evt)_[0-9A-Z]{26}|TRY-\d+|127\.0\.0\.1:\d+|cauri_sk_test_\w+|whsec_[\w+/]+=*` +
	`|[0-9a-f]{32}|[0-9a-f-]{36}|(after|in) \d+(\.\d+)? (ms|s|min)( \d+ s)?|queued|delivered`)

// printedByDev finds the lines of a snippet in the output of `cauri dev`, in their order.
func (s *session) printedByDev(one snippets.Snippet) {
	s.Helper()
	if s.dev == nil {
		s.Errorf("%s: no `cauri dev` of the document has printed it: give it a mark", one)
		return
	}
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		missing, found := missingLine(one.Body, s.printed())
		if !found {
			return
		}
		if time.Since(begun) > snippets.Patience {
			s.Fatalf("%s shows a line that is not printed there:\n%s\nPrinted was\n%s", one, missing, s.printed())
		}
	}
}

// printed is the output of `cauri dev` so far.
func (s *session) printed() string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.Folder, ".dev"))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// missingLine is the first line of what is shown that does not follow the others in what was printed, apart from what varies. A
// busy machine may tell a pending payment and its outcome as one change.
func missingLine(shown, printed string) (line string, found bool) {
	lines := strings.Split(varying.ReplaceAllString(printed, "..."), "\n")
	for line := range strings.Lines(varying.ReplaceAllString(shown, "...")) {
		i := slices.Index(lines, strings.TrimSuffix(line, "\n"))
		switch {
		case i >= 0:
		case strings.Contains(line, "PENDING"):
			continue
		default:
			return line, true
		}
		lines = lines[i+1:]
	}
	return "", false
}

// A busy machine takes longer, and says so in other units.
func TestHowLongItTakesVaries(t *testing.T) {
	for _, printed := range []string{"ready after 950 ms.", "ready after 14 s.", "ready after 1 min 2 s."} {
		if missing, found := missingLine("ready after 4.8 s.", printed); found {
			t.Errorf("%q is another line than %q", printed, missing)
		}
	}
	shown := "TX_1 PENDING 5 RWF\nTX_1 SUCCESS 5 RWF"
	if missing, found := missingLine(shown, "TX_1 SUCCESS 5 RWF"); found {
		t.Errorf("%q is missing", missing)
	}
	if missing, found := missingLine(shown, "TX_1 PENDING 5 RWF"); !found || missing != "TX_1 SUCCESS 5 RWF" {
		t.Errorf("%q is missing", missing)
	}
}
