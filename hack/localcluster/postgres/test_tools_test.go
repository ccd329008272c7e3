package postgres

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// releasing creates a file as soon as something is written to it.
type releasing string

func (r releasing) Write(text []byte) (int, error) {
	if !strings.Contains(string(text), "waiting for another localcluster") {
		return len(text), nil
	}
	return len(text), os.WriteFile(string(r), nil, 0o600)
}

// `make test` and `make e2e` run at the same time, and each installs what it lacks.
func TestPackagesAreInstalledOneAfterTheOther(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root installs packages")
	}
	folder := t.TempDir()
	waits := filepath.Join(folder, "waits")
	// The first command holds the folder until the second one waits.
	hold := packageManager{commands: [][]string{{"sh", "-c", `mkdir "$0/busy" && until [ -e "$0/waits" ]; do sleep 0.01; done && rmdir "$0/busy"`, folder}}}
	take := packageManager{commands: [][]string{{"sh", "-c", `mkdir "$0/busy"`, folder}}}
	first := make(chan error, 1)
	go func() { first <- hold.install(t.Context(), releasing(waits)) }()
	for t.Context().Err() == nil {
		if _, err := os.Stat(filepath.Join(folder, "busy")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := take.install(t.Context(), releasing(waits)); err != nil {
		t.Errorf("the second installation does not wait for the first: %v", err)
		releasing(waits).Write([]byte("waiting for another localcluster")) // else the first one waits without end
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
}
