// Package momo runs the published npm client mtn-momo, unchanged, against a sandbox.
package momo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/ports"
	"github.com/cauri-dev/cauri/test/system"
)

// TestPublishedClient is the whole story of a merchant: users, tokens, payments, callbacks, balances, payouts, and what can go wrong.
func TestPublishedClient(t *testing.T) {
	client(t)
	folder := t.TempDir()
	environment, port := filepath.Join(folder, "env"), ports.ForTest(t)
	startDev(t, "--file=sandbox.yaml", "--port=0", "--env-file="+environment, "--webhook-url=http://127.0.0.1:"+port+"/webhooks")
	variables, err := os.ReadFile(environment)
	if err != nil {
		t.Fatal(err)
	}
	story := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "momo.test.js")
	story.Env = append(append(story.Environ(), strings.Fields(string(variables))...), "PORT="+port)
	if out, err := story.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// client installs the client with the versions and the sums of package-lock.json. The test is skipped only where it cannot run: without
// npm, or without a registry that answers. With CAURI_TEST_WHOLE it fails there too.
func client(t *testing.T) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			cannotRun(t, program+" is not installed: add Node.js 20 or newer with npm to PATH")
		}
	}
	if installed(t) {
		return
	}
	out, err := install(t)
	if err != nil && strings.Contains(out, "EINTEGRITY") { // a cache that is damaged has the wrong sums too
		out, err = install(t, "--cache="+t.TempDir())
	}
	switch {
	case err == nil:
	case unreachable(out):
		cannotRun(t, fmt.Sprintf("no package registry answers npm: %v\n%s", err, out))
	default:
		t.Fatalf("npm does not install what package-lock.json names, although a registry answers: %v\n%s", err, out)
	}
}

func cannotRun(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CAURI_TEST_WHOLE") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// installed reports whether node_modules has the packages of package-lock.json.
func installed(t *testing.T) bool {
	t.Helper()
	type lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	read := func(file string) (l lock, err error) {
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &l)
		}
		delete(l.Packages, "") // the package that needs them
		return l, err
	}
	wanted, err := read("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	found, err := read("node_modules/.package-lock.json")
	return err == nil && maps.Equal(wanted.Packages, found.Packages)
}

func install(t *testing.T, more ...string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{"ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
		"--fetch-retries=0", "--fetch-timeout=20000"}, more...) // a registry that does not answer holds nobody up
	npm := exec.CommandContext(ctx, "npm", args...)
	npm.WaitDelay = time.Second
	text, err := npm.CombinedOutput()
	if ctx.Err() != nil {
		text = append(text, "\nnpm error code ETIMEDOUT\n"...)
	}
	return string(text), err
}

// unreachable reports whether npm says that no registry answered it, or that what is in between refused.
func unreachable(out string) bool {
	code := regexp.MustCompile(`(?m)^npm (?:error|ERR!) code (\S+)`).FindStringSubmatch(out)
	return code != nil && slices.Contains([]string{
		"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT", "ERR_SOCKET_TIMEOUT", "EIDLETIMEOUT",
		"E401", "E403", "E407", "E500", "E502", "E503", "E504",
	}, code[1])
}

// What is in the way decides: a registry that cannot be reached is no fault of the change, and another package than the pinned one is.
func TestWhatNPMSaysIsTold(t *testing.T) {
	for out, want := range map[string]bool{
		"npm warn x\nnpm error code ECONNREFUSED\nnpm error syscall connect": true,
		"npm ERR! code EAI_AGAIN":   true,
		"npm error code E403":       true,
		"npm error code EINTEGRITY": false,
		"npm error code E404":       false,
		"npm error code EUSAGE":     false,
		"node: not found":           false,
	} {
		if got := unreachable(out); got != want {
			t.Errorf("%q: unreachable is %t", out, got)
		}
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
