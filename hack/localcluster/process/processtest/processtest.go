// Package processtest provides state folders and processes for the tests of other packages.
package processtest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// State returns a new state folder and removes it after the test.
func State(t *testing.T) process.StateDir {
	t.Helper()
	state, err := process.NewStateDir(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	if err := state.Create(); err != nil {
		t.Fatal(err)
	}
	return state
}

// Running returns a running process and stops it after the test.
func Running(t *testing.T) process.Process {
	t.Helper()
	state := State(t)
	ready := func(context.Context) error { return nil }
	c := process.Component{Name: "sleep", Program: "/bin/sleep", Args: []string{"60"}, Ready: ready, ReadyWithin: time.Minute}
	if _, err := (process.Supervisor{State: state}).Reach(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	started, err := state.Process(c.Name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { started.Stop(0) })
	return started
}
