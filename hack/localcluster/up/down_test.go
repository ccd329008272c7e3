package up

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/hack/localcluster/process/processtest"
)

func TestStateIsPrivate(t *testing.T) {
	t.Parallel()
	state := processtest.State(t)
	if err := os.Chmod(state.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := state.Create(); err != nil { // a second up
		t.Fatal(err)
	}
	if err := ensureKeys(state); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{
		state.Path: 0o700, state.EncryptionKey(): 0o600, state.PINKey(): 0o600, state.CredentialKey(): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the permissions %o, want %o", path, got, want)
		}
	}
}

func TestKeysAreNeverReplaced(t *testing.T) {
	t.Parallel()
	state := processtest.State(t)
	var keys [2][3]string
	for i := range keys {
		if err := ensureKeys(state); err != nil {
			t.Fatal(err)
		}
		for j, file := range []string{state.EncryptionKey(), state.PINKey(), state.CredentialKey()} {
			key, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			keys[i][j] = string(key)
		}
	}
	if keys[0] != keys[1] {
		t.Error("the second up replaced a key")
	}
}

func TestAFolderOfSomebodyElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	precious := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(precious, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	state, err := process.NewStateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := state.Create(); err == nil || !strings.Contains(err.Error(), "--dir") {
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
	state := processtest.State(t)
	if err := down(&bytes.Buffer{}, state.Path, true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(state.Path); !os.IsNotExist(err) {
		t.Errorf("the state folder is still there: %v", err)
	}
	var said bytes.Buffer
	if err := down(&said, state.Path, true); err != nil || !strings.Contains(said.String(), "nothing to stop") {
		t.Errorf("down after a purge = %v, %q", err, said.String())
	}
}
