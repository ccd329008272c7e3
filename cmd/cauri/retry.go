package main

import (
	"context"
	"log/slog"
	"time"
)

// retry has the settings of repeated attempts in a short command.
type retry struct {
	within    time.Duration // total time limit; 0: only one attempt
	interval  time.Duration // pause between two attempts
	message   string        // logged once, after the first failure
	transient func(error) bool
}

// run calls the function try until it succeeds or returns a permanent error, at most until the time limit. It returns
// the last error.
func (r retry) run(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(r.within)
	for logged := false; ; logged = true {
		err := try()
		if err == nil || !r.transient(err) || time.Now().Add(r.interval).After(deadline) {
			return err
		}
		if !logged {
			slog.InfoContext(ctx, r.message, "within", r.within.String(), "because", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(r.interval):
		}
	}
}
