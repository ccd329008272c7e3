package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newTestState(t *testing.T) stateDir {
	t.Helper()
	state, err := newStateDir(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	if err := state.create(); err != nil {
		t.Fatal(err)
	}
	return state
}

func TestStateIsPrivate(t *testing.T) {
	t.Parallel()
	state := newTestState(t)
	if err := os.Chmod(state.path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := state.create(); err != nil { // a second up
		t.Fatal(err)
	}
	if err := state.ensureEncryptionKey(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{state.path: 0o700, state.encryptionKey(): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the permissions %o, want %o", path, got, want)
		}
	}
}

func TestTheEncryptionKeyIsNeverReplaced(t *testing.T) {
	t.Parallel()
	state := newTestState(t)
	var keys [2][]byte
	for i := range keys {
		if err := state.ensureEncryptionKey(); err != nil {
			t.Fatal(err)
		}
		key, err := os.ReadFile(state.encryptionKey())
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = key
	}
	if !bytes.Equal(keys[0], keys[1]) {
		t.Error("the second up replaced the key")
	}
}

func TestAFolderOfSomebodyElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	precious := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(precious, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	state, err := newStateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := state.create(); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("create = %v, want a refusal that names --dir", err)
	}
	if err := down(&bytes.Buffer{}, dir, true); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error("a purge removed what is not ours")
	}
}

func TestPurgeRemovesTheState(t *testing.T) {
	t.Parallel()
	state := newTestState(t)
	if err := down(&bytes.Buffer{}, state.path, true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(state.path); !os.IsNotExist(err) {
		t.Errorf("the state folder is still there: %v", err)
	}
	var said bytes.Buffer
	if err := down(&said, state.path, true); err != nil || !strings.Contains(said.String(), "nothing to stop") {
		t.Errorf("down after a purge = %v, %q", err, said.String())
	}
}
