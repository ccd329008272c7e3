package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

// dev is a `cauri dev` that runs.
type dev struct {
	cmd *exec.Cmd
	out *recorder
}

// startDev starts `cauri dev` with an environment file in a folder. It returns when the sandbox is ready.
func startDev(t *testing.T, folder string, args ...string) *dev {
	t.Helper()
	d := &dev{cmd: exec.Command(program, append([]string{"dev", "--env-file=.env.cauri", "--operator-ports=off", "--quiet"}, args...)...),
		out: &recorder{}}
	d.cmd.Dir, d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = folder, environment(), d.out, d.out
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.end(t) })
	eventually(t, "cauri dev is ready", func() bool { return strings.Contains(d.out.all(), "Ctrl-C stops it") })
	return d
}

func (d *dev) end(t *testing.T) {
	t.Helper()
	if d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Signal(os.Interrupt)
		if err := d.cmd.Wait(); err != nil && t.Failed() {
			t.Logf("cauri dev: %v\n%s", err, d.out.all())
		}
	}
}

// A sandbox may be started after the server, end, and be started again with another key. Two servers may use it.
func TestSandboxComesAndGoes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	one, two := start(t, folder), start(t, folder, "--read-only")
	if o := one.use(t, "get_status", nil); !o.isErr || o.Error != "no_sandbox" {
		t.Fatalf("without a sandbox: %s", o.text)
	}
	var keys []string
	for range 2 {
		d := startDev(t, folder, "--port=0")
		values, err := cli.ReadEnvFile(filepath.Join(folder, ".env.cauri"))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, values["CAURI_API_KEY"])
		if o := one.use(t, "make_payment", map[string]any{"amount": 1500}); o.Transaction["status"] != "SUCCESS" {
			t.Errorf("with a sandbox: %s", o.text)
		}
		if o := two.use(t, "list_transactions", nil); o.isErr || !strings.Contains(o.text, "SUCCESS") {
			t.Errorf("for the other server: %s", o.text)
		}
		d.end(t)
		if o := one.use(t, "get_status", nil); !o.isErr || o.Error != "no_sandbox" {
			t.Errorf("after its end: %s", o.text)
		}
	}
	if keys[0] == keys[1] {
		t.Error("the second sandbox has the key of the first")
	}
	for _, key := range keys {
		if strings.Contains(one.lines.all(), key) {
			t.Error("a message has a key")
		}
	}
}

// With --dev, a sandbox that runs is used, and one that was killed is replaced. The file is readable by the user only.
func TestDevStartsWhatIsMissing(t *testing.T) {
	t.Parallel()
	onlyWhole(t)
	folder := t.TempDir()
	running := startDev(t, folder, "--port=0")
	before, err := cli.ReadEnvFile(filepath.Join(folder, ".env.cauri"))
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, folder, "--dev")
	if o := s.use(t, "get_status", nil); !strings.Contains(o.text, before["CAURI_URI"]) {
		t.Errorf("the sandbox that runs is not used: %s", o.text)
	}
	if err := running.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = running.cmd.Wait() // it was killed
	if o := s.use(t, "make_payment", map[string]any{"amount": 1500}); o.Transaction["status"] != "SUCCESS" {
		t.Errorf("after it was killed: %s", o.text)
	}
	after, err := cli.ReadEnvFile(filepath.Join(folder, ".env.cauri"))
	if err != nil || after["CAURI_API_KEY"] == before["CAURI_API_KEY"] {
		t.Errorf("no other sandbox was started (%v)", err)
	}
	if info, err := os.Stat(filepath.Join(folder, ".env.cauri")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", info, err)
	}
}

// checkEnd closes the input. The server and its sandbox end, with all processes that they started.
func (s *server) checkEnd(t *testing.T) {
	t.Helper()
	values, err := cli.ReadEnvFile(filepath.Join(s.folder, ".env.cauri"))
	if err != nil {
		t.Fatal(err)
	}
	children := descendants(t, s.cmd.Process.Pid)
	if len(children) == 0 {
		t.Error("no Postgres runs")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	for _, pid := range children {
		eventually(t, fmt.Sprintf("the process %d ends", pid), func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	}
	api := sandboxapi.New(values["CAURI_URI"], values["CAURI_API_KEY"], nil)
	if _, err := api.Clock(t.Context()); err == nil { // another process may have the port now, and does not know the key
		t.Errorf("the sandbox still answers at %s", values["CAURI_URI"])
	}
}

// descendants returns the processes that a process has started, and those that these have.
func descendants(t *testing.T, pid int) (all []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for field := range bytes.FieldsSeq(text) {
			var child int
			if _, err := fmt.Sscan(string(field), &child); err == nil {
				all = append(append(all, child), descendants(t, child)...)
			}
		}
	}
	return all
}

// A server that is killed in the middle of a call leaves a sandbox that another server uses.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	onlyWhole(t)
	folder := t.TempDir()
	startDev(t, folder, "--port=0")
	first := start(t, folder)
	asked := make(chan error, 1)
	reference := "killed-1"
	go func() {
		_, err := first.CallTool(context.Background(), &sdk.CallToolParams{Name: "make_payment", Arguments: map[string]any{
			"amount": 1500, "reference": reference, "outcome": "TIMEOUT", "wait_seconds": 100,
		}})
		asked <- err
	}()
	second := start(t, folder)
	eventually(t, "the payment is recorded", func() bool {
		return strings.Contains(second.use(t, "list_transactions", map[string]any{"reference": reference}).text, `"id"`)
	})
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; err == nil {
		t.Error("the call was answered")
	}
	again := second.use(t, "make_payment", map[string]any{"amount": 1500, "reference": reference, "outcome": "TIMEOUT", "wait_seconds": 0})
	if again.isErr || again.Transaction["reference"] != reference {
		t.Errorf("the repetition: %s", again.text)
	}
	if o := second.use(t, "list_transactions", nil); strings.Count(o.text, `"reference":"`+reference) != 1 {
		t.Errorf("it is recorded more than once: %s", o.text)
	}
}

// checkCalls cancels a wait, and makes many calls at once. All are answered, each with its own.
func (s *server) checkCalls(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "make_payment", Arguments: map[string]any{
			"amount": 1, "reference": "cancelled", "outcome": "TIMEOUT", "wait_seconds": 100,
		}})
		ended <- err
	}()
	eventually(t, "the payment is recorded", func() bool {
		return strings.Contains(s.use(t, "list_transactions", map[string]any{"reference": "cancelled"}).text, `"id"`)
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call: %v", err)
	}
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			order := fmt.Sprintf("order-%d", i)
			if i%4 == 0 {
				s.use(t, "get_status", nil)
				return
			}
			o := s.use(t, "make_payment", map[string]any{"amount": 100 + i, "order_ref": order})
			if o.isErr || o.Transaction["orderRef"] != order || o.Transaction["amount"] != float64(100+i) {
				t.Errorf("%s: %s", order, o.text)
			}
		})
	}
	calls.Wait()
}
