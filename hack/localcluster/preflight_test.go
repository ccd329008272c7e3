package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantAdvice fails unless an error says all of these things.
func wantAdvice(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestCheckSystem(t *testing.T) {
	t.Parallel()
	if err := checkSystemNamed("linux", ""); err != nil {
		t.Error(err)
	}
	wantAdvice(t, checkSystemNamed("darwin", "give both A and B"), "need Linux", "darwin", "Linux VM", "WSL2", "give both A and B")
}

func TestEnoughSpace(t *testing.T) {
	t.Parallel()
	if err := enoughSpace(500*mebibyte, 500*mebibyte, "/x", "tests", "free some"); err != nil {
		t.Error(err)
	}
	wantAdvice(t, enoughSpace(499*mebibyte, 500*mebibyte, "/x", "tests", "free some"), "tests", "499 MB", "/x", "500 MB", "free some")
}

func TestCheckSpaceOfAFolderToBeMade(t *testing.T) {
	t.Parallel()
	if err := checkSpace(filepath.Join(t.TempDir(), "not", "yet"), 1, "tests", ""); err != nil {
		t.Error(err)
	}
}

func TestCheckFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, text := filepath.Join(dir, "cauri"), filepath.Join(dir, "text")
	missing := filepath.Join(dir, "missing")
	for path, mode := range map[string]os.FileMode{program: 0o755, text: 0o644} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, samples := range []string{"", dir} {
		if err := checkFiles(program, dir, samples); err != nil {
			t.Error(err)
		}
	}
	wantAdvice(t, checkFiles(missing, dir, dir), missing, "make build", "--cauri")
	wantAdvice(t, checkFiles(text, dir, dir), "not a program", "make build")
	wantAdvice(t, checkFiles(program, missing, dir), missing, "make generate", "--crds")
	wantAdvice(t, checkFiles(program, dir, missing), missing, "--samples")
}

func TestCheckAPIPort(t *testing.T) {
	t.Parallel()
	taken := takePort(t)
	wantAdvice(t, checkAPIPort(taken, process{}), "in use by", "pid", apiPortVariable+"=")

	ours := startSleep(t, "exec sleep 60")
	ours.Address = apiAddress(taken)
	if err := checkAPIPort(taken, ours); err != nil {
		t.Errorf("our own api is in the way of its successor: %v", err)
	}
	ours.Address = apiAddress(taken + 1)
	wantAdvice(t, checkAPIPort(taken, ours), "in use")
}
