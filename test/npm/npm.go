// Package npm installs the packages of npm that a test runs.
package npm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Install installs the packages of package-lock.json in the folder of the test, with their versions and sums. The test is skipped only
// where it cannot run: without npm, or without a registry that answers. With CAURI_TEST_WHOLE it fails there too.
func Install(t *testing.T) {
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
