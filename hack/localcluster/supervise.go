package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// supervisor makes what runs the same as what is wanted.
type supervisor struct {
	state    stateDir
	progress *progress
}

// ensure makes one component run in its present version, and returns once it is ready.
func (s supervisor) ensure(ctx context.Context, c component) error {
	step := s.progress.begin(c.name)
	done, err := s.reach(ctx, c)
	if err != nil {
		step.failed()
		return err
	}
	step.done(done)
	return nil
}

// reach does the work of ensure and says in a few words what it did.
func (s supervisor) reach(ctx context.Context, c component) (did string, err error) {
	running, err := s.state.process(c.name)
	if err != nil {
		return "", err
	}
	did = "started"
	if running.running() {
		reason, grace, err := reasonToRestart(ctx, running, c)
		if err != nil {
			return "", err
		}
		if reason == "" {
			return "runs already", nil
		}
		if err := running.stop(grace); err != nil {
			return "", err
		}
		did = "restarted: " + reason
	}
	return did, s.startAndWait(ctx, c)
}

// reasonToRestart compares a running process with the one that is wanted; no reason means that it may stay. The grace is
// how long it is given to end.
func reasonToRestart(ctx context.Context, running process, c component) (reason string, grace time.Duration, err error) {
	version, err := c.version()
	if err != nil {
		return "", 0, err
	}
	if running.Version != version {
		return "program or settings changed", c.stopWithin, nil
	}
	// A busy machine deserves patience, a hung process does not. One that lost what it depends on recovers by itself once
	// that is back, and what it depends on was looked after before it.
	if poll(ctx, pollFast, 5*time.Second, c.ready) != nil {
		return "did not answer", min(c.stopWithin, 5*time.Second), ctx.Err()
	}
	return "", 0, nil
}

func (s supervisor) startAndWait(ctx context.Context, c component) error {
	started, err := s.state.start(c)
	if err != nil {
		return err
	}
	err = poll(ctx, pollFast, c.readyWithin, func(ctx context.Context) error {
		// Looked at first: another program may answer in the place of one that could not start.
		if !started.running() {
			return hopeless{errors.New("ended right after its start")}
		}
		return c.ready(ctx)
	})
	if err == nil {
		return nil
	}
	// A process that does not get ready would only be in the way of the next attempt. What stays was ready.
	if stopErr := started.stop(c.stopWithin); stopErr != nil {
		return fmt.Errorf("%w (and then: %v)", err, stopErr)
	}
	if forgetErr := s.state.forget(c.name); forgetErr != nil {
		return fmt.Errorf("%w (and then: %v)", err, forgetErr)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted while waiting for %s; what was started before it still runs: `down` stops it", c.name)
	}
	return failure{name: c.name, log: started.Log, err: err, hint: c.hint}
}

// dismiss stops what an earlier up started and what is not wanted any more.
func (s supervisor) dismiss(wanted map[string]bool) error {
	all, err := s.state.processes()
	if err != nil {
		return err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if wanted[all[i].Name] {
			continue
		}
		if err := s.state.stopAndForget(all[i]); err != nil {
			return err
		}
	}
	return nil
}

// stopAndForget stops a process, if it still is the one that is remembered.
func (d stateDir) stopAndForget(p process) error {
	const grace = 30 * time.Second // the roles drain what they do; Postgres writes its checkpoint
	if err := p.stop(grace); err != nil {
		return err
	}
	return d.forget(p.Name)
}
