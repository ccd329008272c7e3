package postgres

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestForbidServices(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy-rc.d")
	remove, err := forbidServices(policy)
	if err != nil {
		t.Fatal(err)
	}
	err = exec.Command(policy, "pgbouncer", "start").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 101 {
		t.Errorf("a service may be started: %v", err)
	}
	keep, err := forbidServices(policy) // somebody has decided already
	if err != nil {
		t.Fatal(err)
	}
	keep()
	if _, err := os.Stat(policy); err != nil {
		t.Errorf("what stood there before is gone: %v", err)
	}
	remove()
	if _, err := os.Stat(policy); !os.IsNotExist(err) {
		t.Errorf("it is left behind: %v", err)
	}
}
