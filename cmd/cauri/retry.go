package main

import (
	"context"
	"log/slog"
	"time"
)

// retry is how a short command waits for what it depends on.
type retry struct {
	within    time.Duration // gives up after this time; 0: after the first attempt
	interval  time.Duration // between two attempts
	message   string        // logged once, when the first attempt fails
	transient func(error) bool
}

// run calls try until it succeeds or fails with an error that is not transient. It returns the last error.
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
