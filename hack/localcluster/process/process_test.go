package process

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// startSleep starts a child and returns its record.
func startSleep(t *testing.T, script string) Process {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	birth, err := birthOf(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return Process{Name: "sleep", PID: cmd.Process.Pid, Birth: birth, StopSignal: syscall.SIGTERM}
}

func TestStopEndsTheProcess(t *testing.T) {
	t.Parallel()
	p := startSleep(t, "exec sleep 60")
	if !p.Running() {
		t.Fatal("a process that was just started does not count as running")
	}
	if err := p.Stop(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if p.Running() {
		t.Error("still running after stop")
	}
}

func TestStopNeverTouchesARecycledPid(t *testing.T) {
	t.Parallel()
	other := startSleep(t, "exec sleep 60")
	ours := other // the record of an earlier process with the same pid
	ours.Birth = "an-earlier-boot/1"

	if ours.Running() {
		t.Error("another process with the same pid counts as ours")
	}
	if err := ours.Stop(time.Second); err != nil {
		t.Error(err)
	}
	if !other.Running() {
		t.Error("the other process was stopped")
	}
}

func TestStopKillsWhatDoesNotListen(t *testing.T) {
	t.Parallel()
	p := startSleep(t, "trap '' TERM; echo; while :; do sleep 0.05; done")
	if err := p.Stop(200 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if p.Running() {
		t.Error("still running after SIGKILL")
	}
}

func TestProcessesAreRememberedInTheOrderOfTheirStart(t *testing.T) {
	t.Parallel()
	state := newTestState(t)
	for _, name := range []string{WorkerName, PostgresName, APIServerName} {
		if err := state.save(Process{Name: name, PID: 1, Birth: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := state.Processes()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{PostgresName, APIServerName, WorkerName}, names); diff != "" {
		t.Error(diff)
	}
	if err := state.forget(WorkerName); err != nil {
		t.Fatal(err)
	}
	if p, err := state.Process(WorkerName); err != nil || p.Running() || p.Name != "" {
		t.Errorf("forgotten process = %+v, %v", p, err)
	}
}
