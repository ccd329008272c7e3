package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func newTestSupervisor(t *testing.T) supervisor {
	t.Helper()
	s := supervisor{state: newTestState(t), progress: &progress{out: &bytes.Buffer{}}}
	t.Cleanup(func() {
		if err := stopAll(&bytes.Buffer{}, s.state); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sleeper is a component that runs a script of its own, so that the program can be built anew.
func sleeper(t *testing.T, script string) component {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sleeper")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return component{
		name: workerName, program: program, stopSignal: syscall.SIGTERM, stopWithin: 5 * time.Second, readyWithin: 10 * time.Second,
		ready: func(context.Context) error { return nil },
	}
}

func (s supervisor) mustReach(t *testing.T, c component) (did string, pid int) {
	t.Helper()
	did, err := s.reach(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.state.process(c.name)
	if err != nil || !p.running() {
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
	c.args = []string{"--other"}
	did, second := s.mustReach(t, c)
	if second == first {
		t.Errorf("other arguments: %s", did)
	}
	if err := os.WriteFile(c.program, []byte("#!/bin/sh\nexec sleep 61\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if did, pid := s.mustReach(t, c); pid == second {
		t.Errorf("built anew: %s", did)
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
	p, err := s.state.process(c.name)
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
	c.ready = func(context.Context) error { return errors.New("nobody there") }
	_, err := s.reach(t.Context(), c)
	wantAdvice(t, err, "ended right after its start", "no such table", s.state.logFile(workerName))
	if all, err := s.state.processes(); err != nil || len(all) != 0 {
		t.Errorf("remembered: %v, %v", all, err)
	}
}

func TestWhatNeverGetsReadyIsStopped(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	c := sleeper(t, "exec sleep 60")
	c.readyWithin = 100 * time.Millisecond
	var started process
	c.ready = func(context.Context) error {
		started, _ = s.state.process(workerName)
		return errors.New("connection refused")
	}
	_, err := s.reach(t.Context(), c)
	wantAdvice(t, err, "connection refused", "not after")
	if started.PID == 0 || started.running() {
		t.Errorf("it still runs: %+v", started)
	}
}

func TestAnInterruptedStartLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	ctx, interrupt := context.WithCancel(t.Context())
	c := sleeper(t, "exec sleep 60")
	var started process
	c.ready = func(context.Context) error {
		started, _ = s.state.process(workerName)
		interrupt()
		return errors.New("not yet")
	}
	_, err := s.reach(ctx, c)
	wantAdvice(t, err, "interrupted", "down")
	if started.PID == 0 || started.running() {
		t.Errorf("it still runs: %+v", started)
	}
}

func TestDismissStopsOnlyWhatIsNotWanted(t *testing.T) {
	t.Parallel()
	s := newTestSupervisor(t)
	wanted, other := sleeper(t, "exec sleep 60"), sleeper(t, "exec sleep 60")
	other.name = etcdName
	s.mustReach(t, wanted)
	s.mustReach(t, other)
	if err := s.dismiss(map[string]bool{workerName: true}); err != nil {
		t.Fatal(err)
	}
	all, err := s.state.processes()
	if err != nil || len(all) != 1 || all[0].Name != workerName || !all[0].running() {
		t.Errorf("left: %v, %v", all, err)
	}
}
