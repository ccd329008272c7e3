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

// Supervisor makes what runs the same as what is wanted.
type Supervisor struct {
	State    StateDir
	Progress *Progress
}

// Ensure makes one component run in its present version, and returns once it is ready.
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

// Reach does the work of ensure and says in a few words what it did.
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

// reasonToRestart compares a running process with the one that is wanted; no reason means that it may stay. The grace is
// how long it is given to end.
func reasonToRestart(ctx context.Context, running Process, c Component) (reason string, grace time.Duration, err error) {
	version, err := c.version()
	if err != nil {
		return "", 0, err
	}
	if running.Version != version {
		return "program or settings changed", c.StopWithin, nil
	}
	// A busy machine deserves patience, a hung process does not. One that lost what it depends on recovers by itself once
	// that is back, and what it depends on was looked after before it.
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
		// Looked at first: another program may answer in the place of one that could not start.
		if !started.Running() {
			return host.Hopeless(errors.New("ended right after its start"))
		}
		return c.Ready(ctx)
	})
	if err == nil {
		return nil
	}
	// A process that does not get ready would only be in the way of the next attempt. What stays was ready.
	if stopErr := started.Stop(c.StopWithin); stopErr != nil {
		return fmt.Errorf("%w (and then: %v)", err, stopErr)
	}
	if forgetErr := s.State.forget(c.Name); forgetErr != nil {
		return fmt.Errorf("%w (and then: %v)", err, forgetErr)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted while waiting for %s; what was started before it still runs: `down` stops it", c.Name)
	}
	return Failure{Name: c.Name, Log: started.Log, Err: err, Hint: c.Hint}
}

// Dismiss stops what an earlier up started and what is not wanted any more.
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

// stopAndForget stops a process, if it still is the one that is remembered.
func (d StateDir) stopAndForget(p Process) error {
	const grace = 30 * time.Second // the roles drain what they do; Postgres writes its checkpoint
	if err := p.Stop(grace); err != nil {
		return err
	}
	return d.forget(p.Name)
}

// StopAll stops what runs, last started first. Something that cannot be stopped does not keep the others running.
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
