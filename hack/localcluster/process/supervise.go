package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// Supervisor starts, restarts and stops processes until they match the wanted components.
type Supervisor struct {
	State    StateDir
	Progress *Progress
}

// Ensure starts or restarts a component if necessary, so that its current version runs. It waits until it is ready.
func (s Supervisor) Ensure(ctx context.Context, c Component) error {
	step := s.Progress.Begin(c.Name)
	done, err := s.Reach(ctx, c)
	if err != nil {
		step.Failed()
		return err
	}
	step.Done(done)
	return nil
}

// Reach does the work of Ensure, and returns a short description of its actions.
func (s Supervisor) Reach(ctx context.Context, c Component) (did string, err error) {
	running, err := s.State.Process(c.Name)
	if err != nil {
		return "", err
	}
	did = "started"
	if running.Running() {
		reason, grace, err := reasonToRestart(ctx, running, c)
		if err != nil {
			return "", err
		}
		if reason == "" {
			return "runs already", nil
		}
		if err := running.Stop(grace); err != nil {
			return "", err
		}
		did = "restarted: " + reason
	}
	return did, s.startAndWait(ctx, c)
}

// reasonToRestart compares a running process with the wanted component. An empty reason means that no restart is
// necessary. grace is the grace period for stopping the process.
func reasonToRestart(ctx context.Context, running Process, c Component) (reason string, grace time.Duration, err error) {
	version, err := c.version()
	if err != nil {
		return "", 0, err
	}
	if running.Version != version {
		return "program or settings changed", c.StopWithin, nil
	}
	// The timeout allows for a busy machine. A process that lost a dependency recovers when the dependency is back, and
	// dependencies are checked first.
	if host.Poll(ctx, host.PollFast, 5*time.Second, c.Ready) != nil {
		return "did not answer", min(c.StopWithin, 5*time.Second), ctx.Err()
	}
	return "", 0, nil
}

func (s Supervisor) startAndWait(ctx context.Context, c Component) error {
	started, err := s.State.start(c)
	if err != nil {
		return err
	}
	err = host.Poll(ctx, host.PollFast, c.ReadyWithin, func(ctx context.Context) error {
		// This check comes first, because another program may answer on the port of a process that could not start.
		if !started.Running() {
			return host.Hopeless(errors.New("ended right after its start"))
		}
		return c.Ready(ctx)
	})
	if err == nil {
		return nil
	}
	// A new process that does not become ready is stopped, because it would block the next attempt.
	if stopErr := started.Stop(c.StopWithin); stopErr != nil {
		return fmt.Errorf("%w (then: %v)", err, stopErr)
	}
	if forgetErr := s.State.forget(c.Name); forgetErr != nil {
		return fmt.Errorf("%w (then: %v)", err, forgetErr)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted while waiting for %s. Earlier processes still run; `down` stops them", c.Name)
	}
	return Failure{Name: c.Name, Log: started.Log, Err: err, Hint: c.Hint}
}

// Dismiss stops processes of an earlier up that are no longer wanted.
func (s Supervisor) Dismiss(wanted map[string]bool) error {
	all, err := s.State.Processes()
	if err != nil {
		return err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if wanted[all[i].Name] {
			continue
		}
		if err := s.State.stopAndForget(all[i]); err != nil {
			return err
		}
	}
	return nil
}

// stopAndForget stops a process if it is still the recorded one, and removes its record.
func (d StateDir) stopAndForget(p Process) error {
	const grace = 30 * time.Second // the roles finish their work, and Postgres writes a checkpoint
	if err := p.Stop(grace); err != nil {
		return err
	}
	return d.forget(p.Name)
}

// StopAll stops all processes, last started first. It continues after errors.
func StopAll(out io.Writer, state StateDir) error {
	all, err := state.Processes()
	if err != nil {
		return err
	}
	slices.Reverse(all)
	progress := &Progress{Out: out}
	var failed error
	stopped := 0
	for _, p := range all {
		if !p.Running() {
			failed = errors.Join(failed, state.forget(p.Name))
			continue
		}
		step := progress.Begin(p.Name)
		if err := state.stopAndForget(p); err != nil {
			step.Failed()
			failed = errors.Join(failed, err)
			continue
		}
		step.Done("stopped")
		stopped++
	}
	if stopped == 0 && failed == nil {
		fmt.Fprintln(out, "nothing runs")
	}
	return failed
}
