// Package examples runs the shops of the folder examples with their own tests, as the pipeline in docs/ci.md does.
package examples

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// root is the folder of the work tree.
const root = "../.."

// TestShops is a pipeline from nothing: a sandbox from examples/sandbox.yaml, then the tests of a shop.
func TestShops(t *testing.T) {
	program, err := system.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for folder, command := range map[string][]string{
		"go-shop":   {"go", "test", "-count=1", "./..."},
		"node-shop": {"node", "--test"},
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Fatalf("%s needs %s: install it (on Debian: apt-get install nodejs)", folder, command[0])
			}
			begun, port := time.Now(), freePort(t)
			variables := startDev(t, program, "http://127.0.0.1:"+port+"/webhooks")
			shop := exec.CommandContext(t.Context(), command[0], command[1:]...)
			shop.Dir = filepath.Join(root, "examples", folder)
			shop.Env = append(append(shop.Environ(), "PORT="+port), variables...)
			output, err := shop.CombinedOutput()
			t.Logf("%s after %.1f s\n%s", strings.Join(command, " "), time.Since(begun).Seconds(), output)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// startDev runs `cauri dev` until the test ends, and returns the variables of its sandbox.
func startDev(t *testing.T, program, webhookURL string) (variables []string) {
	t.Helper()
	folder := t.TempDir()
	environment, ready := filepath.Join(folder, "env"), filepath.Join(folder, "ready")
	dev := exec.Command(program, "dev", "--file="+filepath.Join(root, "examples", "sandbox.yaml"), "--port=0",
		"--webhook-url="+webhookURL, "--env-file="+environment, "--ready-file="+ready)
	var output strings.Builder
	dev.Stdout, dev.Stderr = &output, &output
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- dev.Wait() }()
	t.Cleanup(func() {
		_ = dev.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Errorf("cauri dev: %v\n%s", err, &output)
		}
	})
	for {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		select {
		case err := <-ended:
			ended <- nil
			t.Fatalf("cauri dev ended: %v\n%s", err, &output)
		case <-time.After(20 * time.Millisecond):
		}
	}
	file, err := os.Open(environment)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		variables = append(variables, lines.Text())
	}
	return variables
}

// freePort is a port that a shop can listen on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
}
