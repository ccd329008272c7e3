package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/test/system"
)

// program is the program under test, built from the work tree.
var program string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "cauri-agents-test-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if program, err = system.Build(context.Background(), folder); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// onlyWhole skips a test that is for `make verify`.
func onlyWhole(t *testing.T) {
	t.Helper()
	if os.Getenv("CAURI_TEST_WHOLE") == "" {
		t.Skip("CAURI_TEST_WHOLE is not set")
	}
}

// deadline bounds everything that a test waits for.
const deadline = time.Minute

// server is a `cauri mcp` with its client.
type server struct {
	*sdk.ClientSession
	cmd    *exec.Cmd
	folder string
	lines  *recorder

	inputs, outputs map[string]*jsonschema.Schema // of each tool
}

// recorder keeps what a process writes to its standard output.
type recorder struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.text.Write(p)
}

func (r *recorder) all() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.text.String()
}

// recorded is the output of a process of which a recorder has a copy.
type recorded struct {
	io.Reader
	io.Closer
}

// environment is that of the test without what names a sandbox.
func environment(more ...string) (all []string) {
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "CAURI_") && !strings.HasPrefix(variable, "KUBECONFIG=") {
			all = append(all, variable)
		}
	}
	return append(all, append([]string{"KUBECONFIG=/none"}, more...)...)
}

// start starts `cauri mcp` in a folder, and connects to it. It ends with the test.
func start(t *testing.T, folder string, args ...string) *server {
	t.Helper()
	cmd := exec.Command(program, append([]string{"mcp"}, args...)...) // its input ends it
	cmd.Dir, cmd.Env = folder, environment()
	errs, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: cmd, folder: folder, lines: &recorder{}}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s.ClientSession, err = client.Connect(ctx, &sdk.IOTransport{Reader: recorded{io.TeeReader(out, s.lines), out}, Writer: in}, nil)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	s.readSchemas(t)
	t.Cleanup(func() {
		_ = s.Close()
		_ = in.Close()
		_ = cmd.Wait()
		s.checkLines(t)
		if text, err := os.ReadFile(errs.Name()); err == nil {
			s.checkSecrets(t, string(text))
			if t.Failed() {
				t.Logf("the standard error:\n%s", text)
			}
		}
		_ = errs.Close()
	})
	return s
}

// checkLines fails unless each line of the standard output is a message of the protocol without a secret.
func (s *server) checkLines(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(s.lines.all()) {
		var message struct {
			Version string `json:"jsonrpc"`
		}
		if err := json.Unmarshal([]byte(line), &message); err != nil || message.Version != "2.0" {
			t.Errorf("a line is no message: %.300s", line)
		}
	}
	s.checkSecrets(t, s.lines.all())
}

// checkSecrets fails if a text has a value of .env.cauri that is no address, or a key by its form.
func (s *server) checkSecrets(t *testing.T, text string) {
	t.Helper()
	for _, form := range []string{"cauri_sk_", "whsec_"} {
		if at := strings.Index(text, form); at >= 0 && at+len(form) < len(text) && text[at+len(form)] != '.' && text[at+len(form)] != ' ' {
			if rest := text[at : at+min(len(form)+12, len(text)-at)]; !strings.ContainsAny(rest, " .,`*") {
				t.Errorf("a text has %s", rest)
			}
		}
	}
	values, err := cli.ReadEnvFile(filepath.Join(s.folder, ".env.cauri"))
	if err != nil {
		return // there is no sandbox
	}
	for name, value := range values {
		if !strings.HasSuffix(name, "_URI") && len(value) > 5 && strings.Contains(text, value) {
			t.Errorf("a text has the value of %s", name)
		}
	}
}

// output is the output of a tool.
type output struct {
	Summary string `json:"summary"`
	Cause   string `json:"cause"`
	Next    []struct {
		Tool, Command, Change, Because string
		Arguments                      map[string]any
	} `json:"next"`
	Error       string         `json:"error"`
	Message     string         `json:"message"`
	Transaction map[string]any `json:"transaction"`
	Letter      string         `json:"letter"`
	Met         bool           `json:"met"`

	text  string
	isErr bool
}

// use calls a tool.
func (s *server) use(t *testing.T, name string, arguments map[string]any) *output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*deadline)
	defer cancel()
	result, err := s.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", name, arguments, err)
	}
	o := &output{text: result.Content[0].(*sdk.TextContent).Text, isErr: result.IsError}
	if err := json.Unmarshal([]byte(o.text), o); err != nil || o.Summary == "" || len(o.text) > 24<<10 {
		t.Fatalf("%s %v: %v: %d bytes, %.500s", name, arguments, err, len(o.text), o.text)
	}
	s.check(t, name, result, o)
	return o
}

// eventually fails unless a condition holds within the deadline.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, deadline)
		}
	}
}
