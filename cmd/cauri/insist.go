package main

import (
	"context"
	"log/slog"
	"time"
)

// insistence is how a short command waits for what it depends on.
type insistence struct {
	within   time.Duration // after which it gives up; 0: at once
	interval time.Duration // between two attempts
	waiting  string        // what is logged once
	passes   func(error) bool
}

// insist repeats what fails by an error that may pass.
func (i insistence) insist(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(i.within)
	for told := false; ; told = true {
		err := try()
		if err == nil || !i.passes(err) || time.Now().Add(i.interval).After(deadline) {
			return err
		}
		if !told {
			slog.InfoContext(ctx, i.waiting, "within", i.within.String(), "because", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(i.interval):
		}
	}
}
