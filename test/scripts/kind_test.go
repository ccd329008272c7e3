// Package scripts runs shell scripts of hack/ with programs that only note how they are called.
package scripts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// checkout is a folder that looks to hack/kind.sh like a checkout with everything built.
type checkout struct {
	t      *testing.T
	folder string
}

// program notes its call, and ends with the status in the file <name>.<first argument>, if there is one. Where the file <name>.wait is,
// it waits for a signal.
const program = `#!/bin/bash
name=${0##*/}
cd %[1]q
echo "$name $*" >>calls
if [ -e "$name.wait" ]; then
  trap 'echo "$name got TERM" >>calls; exit 143' TERM
  touch "$name.runs"
  while [ -e "$name.wait" ]; do sleep 0.02; done
fi
if [ -e "$name.$1" ]; then exit "$(cat "$name.$1")"; fi
`

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	c := &checkout{t: t, folder: t.TempDir()}
	script, err := os.ReadFile("../../hack/kind.sh")
	if err != nil {
		t.Fatal(err)
	}
	c.write("hack/kind.sh", string(script))
	for _, name := range []string{"path/docker", "bin/kind", "bin/helm", "bin/cauri", "bin/cluster.test"} {
		c.write(name, fmt.Sprintf(program, c.folder))
	}
	for _, image := range []string{"cauri", "cauri-next", "coredns", "merchant", "pause", "postgres"} {
		c.write("bin/images/"+image+".tar", "")
	}
	return c
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.folder, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o755)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *checkout) remove(name string) {
	c.t.Helper()
	if err := os.Remove(filepath.Join(c.folder, name)); err != nil {
		c.t.Fatal(err)
	}
}

// command is the script, with nothing but the programs of the system and of the checkout on its path.
func (c *checkout) command(env ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	c.t.Cleanup(cancel)
	command := exec.CommandContext(ctx, "bash", "hack/kind.sh", "-test.run=Upgrade")
	command.Dir = c.folder
	command.Env = append(
		[]string{"PATH=" + c.folder + "/path:/usr/bin:/bin", "TMPDIR=" + c.folder + "/tmp", "HOME=" + c.folder, "LC_ALL=C"},
		env...)
	if err := os.MkdirAll(c.folder+"/tmp", 0o755); err != nil {
		c.t.Fatal(err)
	}
	return command
}

// run runs the script to its end.
func (c *checkout) run(env ...string) (status int, out string) {
	c.t.Helper()
	text, err := c.command(env...).CombinedOutput()
	return c.status(err), string(text)
}

func (c *checkout) status(err error) int {
	c.t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	c.t.Fatal(err)
	return 0
}

var (
	clusterName = regexp.MustCompile(`cauri-e2e-\d+`)
	workFolder  = regexp.MustCompile(`\S*/tmp\.\w+`)
)

// calls are those of the programs, in their order, without what differs from run to run.
func (c *checkout) calls() []string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.folder, "calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	plain := clusterName.ReplaceAllString(string(text), "CLUSTER")
	plain = workFolder.ReplaceAllString(plain, "WORK")
	return strings.Split(strings.TrimSpace(plain), "\n")
}

// checkNothingIsLeft fails if the script left temporary files.
func (c *checkout) checkNothingIsLeft() {
	c.t.Helper()
	left, err := os.ReadDir(filepath.Join(c.folder, "tmp"))
	if err != nil || len(left) > 0 {
		c.t.Errorf("temporary files were left: %v, %v", left, err)
	}
}

const (
	asks    = "docker info"
	creates = "kind create cluster --name CLUSTER --kubeconfig WORK/kubeconfig --wait 180s"
	loads   = "kind load image-archive bin/images/%s.tar --name CLUSTER"
	tests   = "cluster.test -test.v -test.timeout=20m -test.run=Upgrade"
	exports = "kind export logs bin/kind-logs --name CLUSTER"
	deletes = "kind delete cluster --name CLUSTER"
)

func load(image string) string { return fmt.Sprintf(loads, image) }

func TestKind(t *testing.T) {
	loaded := []string{asks, creates, load("cauri-next"), load("cauri"), load("merchant"), load("postgres")}
	for name, test := range map[string]struct {
		fails  map[string]string // status of a program's call
		env    []string
		status int
		says   string
		want   []string
	}{
		"all is well": {want: append(loaded[:6:6], tests, deletes)},
		"another node": {
			env:  []string{"NODE=node:v1.33"},
			want: append([]string{asks, creates + " --image node:v1.33"}, append(loaded[2:6:6], tests, deletes)...),
		},
		"Docker does not answer": {
			fails: map[string]string{"docker.info": "1"}, status: 1, says: "make e2e", want: []string{asks},
		},
		"the cluster cannot be made": {
			fails: map[string]string{"kind.create": "7"}, status: 7, want: []string{asks, creates, deletes},
		},
		"an image cannot be loaded": {
			fails: map[string]string{"kind.load": "4"}, status: 4, says: "bin/kind-logs", want: []string{asks, creates, load("cauri-next"), exports, deletes},
		},
		"the tests fail": {
			fails: map[string]string{"cluster.test.-test.v": "3"}, status: 3, says: "bin/kind-logs", want: append(loaded[:6:6], tests, exports, deletes),
		},
		"the cluster cannot be deleted": {
			fails: map[string]string{"kind.delete": "1"}, says: "could not be deleted", want: append(loaded[:6:6], tests, deletes),
		},
		"the cluster is to stay": {
			env: []string{"KEEP=1"}, says: "bin/kind delete cluster --name cauri-e2e-",
			want: append(loaded[:6:6], tests, "kind export kubeconfig --name CLUSTER --kubeconfig bin/kind.kubeconfig"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			for call, status := range test.fails {
				c.write(call, status)
			}
			status, out := c.run(test.env...)
			if status != test.status || !strings.Contains(out, test.says) {
				t.Errorf("ended with %d, want %d; it says, without %q:\n%s", status, test.status, test.says, out)
			}
			if diff := cmp.Diff(test.want, c.calls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			c.checkNothingIsLeft()
		})
	}
}

// Where the database's image cannot be made from packages, the official one takes its name.
func TestKindFetchesTheDatabase(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	c.remove("bin/images/postgres.tar")
	if status, out := c.run(); status != 0 {
		t.Errorf("ended with %d:\n%s", status, out)
	}
	want := []string{
		asks, creates,
		"docker pull --quiet postgres:15", "docker tag postgres:15 cauri.local/postgres:15",
		"docker save --output WORK/postgres.tar cauri.local/postgres:15", "kind load image-archive WORK/postgres.tar --name CLUSTER",
		load("cauri-next"), load("cauri"), load("merchant"), tests, deletes,
	}
	if diff := cmp.Diff(want, c.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	c.checkNothingIsLeft()
}

func TestKindSaysWhatIsMissing(t *testing.T) {
	for missing, says := range map[string]string{
		"path/docker":             "there is no docker here",
		"bin/kind":                "bin/kind is missing: run `make kind`",
		"bin/helm":                "bin/helm is missing: run `make kind`",
		"bin/cauri":               "bin/cauri is missing: run `make kind`",
		"bin/cluster.test":        "bin/cluster.test is missing: run `make kind`",
		"bin/images/cauri.tar":    "bin/images/cauri.tar is missing: run `make kind`",
		"bin/images/merchant.tar": "bin/images/merchant.tar is missing: run `make kind`",
	} {
		t.Run(filepath.Base(missing), func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			c.remove(missing)
			status, out := c.run()
			if _, err := os.Stat("/usr/bin/docker"); err == nil && missing == "path/docker" {
				t.Skip("this machine has a docker of its own in /usr/bin")
			}
			if status != 1 || !strings.Contains(out, says) {
				t.Errorf("ended with %d and says, instead of %q:\n%s", status, says, out)
			}
			for _, call := range c.calls() {
				if strings.HasPrefix(call, "kind") {
					t.Errorf("called %s", call)
				}
			}
			c.checkNothingIsLeft()
		})
	}
}

// A run that is interrupted ends its tests, and then deletes its cluster.
func TestKindInterrupted(t *testing.T) {
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			c.write("cluster.test.wait", "")
			command := c.command()
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(filepath.Join(c.folder, "cluster.test.runs")); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the tests were not begun")
				}
			}
			if err := command.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if got := c.status(command.Wait()); got != status {
				t.Errorf("ended with %d, want %d", got, status)
			}
			want := []string{tests, "cluster.test got TERM", exports, deletes}
			if calls := c.calls(); len(calls) < 4 || !cmp.Equal(want, calls[len(calls)-4:]) {
				t.Errorf("ended with the calls %q, want %q", calls, want)
			}
			c.checkNothingIsLeft()
		})
	}
}
