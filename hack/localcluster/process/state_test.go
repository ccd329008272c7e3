package process

import (
	"path/filepath"
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
