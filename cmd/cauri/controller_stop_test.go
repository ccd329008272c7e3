package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A controller stops in time, also when its manager does not.
func TestTheControllerStopsInTime(t *testing.T) {
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		start func(context.Context) error
		takes time.Duration // after the context ended
		err   bool
	}{
		"the manager stops": {start: func(ctx context.Context) error { <-ctx.Done(); time.Sleep(time.Second); return nil }, takes: time.Second},
		"its caches are not filled": {
			start: func(ctx context.Context) error { time.Sleep(24 * time.Hour); return nil }, takes: stopTimeout, err: true,
		},
		"it fails while it stops": {start: func(ctx context.Context) error { <-ctx.Done(); return failed }, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				begun := time.Now()
				err := startWithin(ctx, c.start, stopTimeout)
				if took := time.Since(begun) - time.Minute; took != c.takes || (err != nil) != c.err {
					t.Errorf("it took %s and returned %v", took, err)
				}
				time.Sleep(24 * time.Hour) // the manager's goroutine ends too
			})
		})
	}
	if err := startWithin(t.Context(), func(context.Context) error { return failed }, time.Hour); !errors.Is(err, failed) {
		t.Errorf("a manager that fails: %v", err)
	}
}
