package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newTestState(t *testing.T) StateDir {
	t.Helper()
	state, err := NewStateDir(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	if err := state.Create(); err != nil {
		t.Fatal(err)
	}
	return state
}

func TestStateThatOthersCanChange(t *testing.T) {
	t.Parallel()
	state := newTestState(t)
	if !state.IsOurs() {
		t.Fatal("a new folder is not ours")
	}
	link := StateDir{Path: filepath.Join(t.TempDir(), "link")}
	if err := os.Symlink(state.Path, link.Path); err != nil {
		t.Fatal(err)
	}
	if link.IsOurs() || link.Create() == nil {
		t.Error("a link is trusted")
	}
	if err := os.Chmod(state.Path, 0o777); err != nil {
		t.Fatal(err)
	}
	if state.IsOurs() || state.Create() == nil {
		t.Error("a folder that everybody can change is trusted")
	}
	empty := StateDir{Path: filepath.Join(t.TempDir(), "empty")}
	if err := errors.Join(os.Mkdir(empty.Path, 0o700), os.Chmod(empty.Path, 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := empty.Create(); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("an empty folder that everybody can change: %v", err)
	}
}
