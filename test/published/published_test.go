// Package published runs published npm clients, unchanged, against a sandbox: mtn-momo of MTN's own API, soap with the
// WSDL of Moov's, and mpesa-node of M-Pesa's.
package published

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/npm"
	"github.com/cauri-dev/cauri/test/ports"
	"github.com/cauri-dev/cauri/test/system"
)

// TestPublishedClients runs the story of a merchant with each client: tokens, payments, callbacks, balances, payouts, and what can go
// wrong.
func TestPublishedClients(t *testing.T) {
	npm.Install(t)
	for _, client := range []string{"momo", "moov", "mpesa"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			environment, port := filepath.Join(t.TempDir(), "env"), ports.ForTest(t)
			startDev(t, "--file="+client+".yaml", "--port=0", "--env-file="+environment, "--webhook-url=http://127.0.0.1:"+port+"/webhooks")
			variables, err := os.ReadFile(environment)
			if err != nil {
				t.Fatal(err)
			}
			story := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", client+".test.js")
			story.Env = append(append(story.Environ(), strings.Fields(string(variables))...), "PORT="+port)
			if out, err := story.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// startDev runs `cauri dev` until the test ends. It returns when the sandbox is ready.
func startDev(t *testing.T, args ...string) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	dev := exec.Command(program(t), append([]string{"dev", "--ready-file=" + ready}, args...)...)
	var output strings.Builder
	dev.Stdout, dev.Stderr = &output, &output
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- dev.Wait() }()
	t.Cleanup(func() {
		_ = dev.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Logf("cauri dev ended: %v", err)
		}
		if t.Failed() {
			t.Log(output.String())
		}
	})
	for deadline := time.Now().Add(5 * time.Minute); ; {
		if _, err := os.Stat(ready); err == nil {
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("cauri dev ended: %v\n%s", err, output.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("cauri dev was not ready within five minutes")
		}
	}
}

// program is cauri, built by `make test`, or now.
func program(t *testing.T) string {
	t.Helper()
	if built := os.Getenv("CAURI_TEST_PROGRAM"); built != "" {
		return built
	}
	built, err := system.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return built
}
