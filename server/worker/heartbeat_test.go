package worker

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Only a step that does not end counts as stuck: not one that fails again and again, nor a sweep that has ended, nor one that rests
// within its step.
func TestStuck(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
	w := New(Options{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }})
	if err := w.Stuck(); err != nil {
		t.Errorf("before it runs: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	steps, goOn := make(chan struct{}), make(chan error)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.sweep(ctx, "settlement", func(context.Context) (bool, error) {
			steps <- struct{}{}
			return true, <-goOn
		})
	}()
	<-steps
	w.hearts.beat("retention", now)
	now = now.Add(stuckAfter)
	if err := w.Stuck(); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	now = now.Add(time.Second)
	if err := w.Stuck(); err == nil || !strings.Contains(err.Error(), "settlement has been at one step for 2m1s") {
		t.Errorf("beyond the limit: %v", err)
	}
	goOn <- errors.New("the database is unavailable")
	<-steps
	if err := w.Stuck(); err != nil {
		t.Errorf("after a failure that ended the step: %v", err)
	}
	now = now.Add(time.Hour)
	stop()
	goOn <- nil
	<-done
	if err := w.Stuck(); err != nil {
		t.Errorf("after its end: %v", err)
	}
}
