package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a child process. It ends at the latest with its parent.
type Process struct {
	Name   string
	cmd    *exec.Cmd
	log    string
	exited chan struct{}
}

// command describes how to start a process.
type command struct {
	name       string
	program    string
	args       []string
	env        []string
	dir        string
	log        string // file; keeps the output of earlier processes with this name
	credential *syscall.Credential
	onOrphaned syscall.Signal // signal when its parent ends
}

func start(c command) (*Process, error) {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	defer func() { _ = log.Close() }()
	p := &Process{Name: c.name, cmd: exec.Command(c.program, c.args...), log: c.log, exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = c.env, c.dir, log, log
	// Use a new process group: an interrupt at the terminal goes only to the parent, which stops its children in order.
	p.cmd.SysProcAttr = endWithParent(&syscall.SysProcAttr{Setpgid: true, Credential: c.credential}, c.onOrphaned)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	go func() {
		_ = p.cmd.Wait() // the state has the exit status
		close(p.exited)
	}()
	return p, nil
}

// Running reports whether the process is running.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill kills the process without warning, as the kernel does when memory is short, and returns when it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.exited
}

// Terminate stops the process as Kubernetes does and returns how long that took. It returns an error if the process
// ends with a code other than 0, or does not end within the timeout and is killed.
func (p *Process) Terminate(within time.Duration) (time.Duration, error) {
	begun := time.Now()
	err := p.signal(syscall.SIGTERM, within)
	if code := p.cmd.ProcessState.ExitCode(); err == nil && code != 0 {
		err = fmt.Errorf("%s ended with %s\n%s", p.Name, p.cmd.ProcessState, p.LogTail(20))
	}
	return time.Since(begun), err
}

// signal sends a signal that ends the process. If the process does not end in time, it kills the process and returns an
// error.
func (p *Process) signal(signal syscall.Signal, within time.Duration) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping %s: %w", p.Name, err)
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return nil
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("%s did not end within %s of %s and was killed\n%s", p.Name, within, signal, p.LogTail(20))
	}
}

// Pause stops the process until [Process.Resume], like a machine that swaps or is migrated.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume ends a pause.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// ready waits until check returns nil. It gives up at once if the process has ended.
func (p *Process) ready(ctx context.Context, within time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.exited:
			cancel(errors.New("it ended"))
		case <-ctx.Done():
		}
	}()
	if err := Until(ctx, within, p.Name+" is ready", check); err != nil {
		if !p.Running() {
			err = fmt.Errorf("%s ended with %s", p.Name, p.cmd.ProcessState)
		}
		return fmt.Errorf("%w\n%s", err, p.LogTail(20))
	}
	return nil
}

// LogTail returns the last log lines of the processes with this name, without successful deliveries.
func (p *Process) LogTail(lines int) string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(content)), "\n"), func(line string) bool {
		return strings.Contains(line, "state=delivered") || strings.Contains(line, `"state":"delivered"`)
	})
	return "--- " + filepath.Base(p.log) + "\n" + strings.Join(all[max(0, len(all)-lines):], "\n")
}

// PeakMemory is the peak resident memory of the process, in bytes. Linux only.
func (p *Process) PeakMemory() (int64, error) { return p.memory("VmHWM:") }

// Memory is the resident memory of the process, in bytes. Linux only.
func (p *Process) Memory() (int64, error) { return p.memory("VmRSS:") }

func (p *Process) memory(name string) (int64, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID()) + "/status")
	if err != nil {
		return 0, fmt.Errorf("reading the memory of %s: %w", p.Name, err)
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("the system does not report the memory of %s", p.Name)
}
