package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func newTestSupervisor(t *testing.T) Supervisor {
	t.Helper()
	s := Supervisor{State: newTestState(t), Progress: &Progress{Out: &bytes.Buffer{}}}
	t.Cleanup(func() {
		if err := StopAll(&bytes.Buffer{}, s.State); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sleeper is a component that runs a script, so that tests can rebuild the program.
func sleeper(t *testing.T, script string) Component {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sleeper")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return Component{
		Name: WorkerName, Program: program, StopSignal: syscall.SIGTERM, StopWithin: 5 * time.Second, ReadyWithin: 10 * time.Second,
		Ready: func(context.Context) error { return nil },
	}
}

func (s Supervisor) mustReach(t *testing.T, c Component) (did string, pid int) {
	t.Helper()
	did, err := s.Reach(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.State.Process(c.Name)
	if err != nil || !p.Running() {
		t.Fatalf("not running after %q: %+v, %v", did, p, err)
	}
	return did, p.PID
}

func TestWhatRunsStaysUntilItChanges(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	c := sleeper(t, "exec sleep 60")
	did, first := s.mustReach(t, c)
	if did != "started" {
		t.Errorf("first: %s", did)
	}
	if did, pid := s.mustReach(t, c); did != "runs already" || pid != first {
		t.Errorf("again: %s, pid %d -> %d", did, first, pid)
	}
	c.Args = []string{"--other"}
	did, second := s.mustReach(t, c)
	if second == first {
		t.Errorf("other arguments: %s", did)
	}
	if err := os.WriteFile(c.Program, []byte("#!/bin/sh\nexec sleep 61\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if did, pid := s.mustReach(t, c); pid == second {
		t.Errorf("built again: %s", did)
	}
}

func TestWhatHasEndedIsStarted(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	c := sleeper(t, "exec sleep 60")
	_, first := s.mustReach(t, c)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p, err := s.State.Process(c.Name)
	if err != nil || !p.gone(5*time.Second) {
		t.Fatalf("not killed: %v", err)
	}
	if did, pid := s.mustReach(t, c); did != "started" || pid == first {
		t.Errorf("after a kill: %s, pid %d -> %d", did, first, pid)
	}
}

func TestWhatEndsAtItsStartIsReportedAndForgotten(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	c := sleeper(t, "echo no such table; exit 1")
	c.Ready = func(context.Context) error { return errors.New("nobody there") }
	_, err := s.Reach(t.Context(), c)
	testkit.WantAdvice(t, err, "ended right after its start", "no such table", s.State.LogFile(WorkerName))
	if all, err := s.State.Processes(); err != nil || len(all) != 0 {
		t.Errorf("remembered: %v, %v", all, err)
	}
}

func TestWhatNeverGetsReadyIsStopped(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	c := sleeper(t, "exec sleep 60")
	c.ReadyWithin = 100 * time.Millisecond
	var started Process
	c.Ready = func(context.Context) error {
		started, _ = s.State.Process(WorkerName)
		return errors.New("connection refused")
	}
	_, err := s.Reach(t.Context(), c)
	testkit.WantAdvice(t, err, "connection refused", "not after")
	if started.PID == 0 || started.Running() {
		t.Errorf("it still runs: %+v", started)
	}
}

func TestAnInterruptedStartLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	ctx, interrupt := context.WithCancel(t.Context())
	c := sleeper(t, "exec sleep 60")
	var started Process
	c.Ready = func(context.Context) error {
		started, _ = s.State.Process(WorkerName)
		interrupt()
		return errors.New("not yet")
	}
	_, err := s.Reach(ctx, c)
	testkit.WantAdvice(t, err, "interrupted", "down")
	if started.PID == 0 || started.Running() {
		t.Errorf("it still runs: %+v", started)
	}
}

func TestDismissStopsOnlyWhatIsNotWanted(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	wanted, other := sleeper(t, "exec sleep 60"), sleeper(t, "exec sleep 60")
	other.Name = EtcdName
	s.mustReach(t, wanted)
	s.mustReach(t, other)
	if err := s.Dismiss(map[string]bool{WorkerName: true}); err != nil {
		t.Fatal(err)
	}
	all, err := s.State.Processes()
	if err != nil || len(all) != 1 || all[0].Name != WorkerName || !all[0].Running() {
		t.Errorf("left: %v, %v", all, err)
	}
}
