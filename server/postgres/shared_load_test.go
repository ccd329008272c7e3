package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// held is a shared load whose calls wait for the test to end them.
type held struct {
	SharedLoad[int]
	calls atomic.Int64
	end   chan error
}

func newHeld() *held {
	h := &held{end: make(chan error)}
	h.SharedLoad = SharedLoad[int]{Timeout: time.Minute, Run: func(ctx context.Context) (int, error) {
		call := int(h.calls.Add(1))
		select {
		case err := <-h.end:
			return call, err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}}
	return h
}

// ask has somebody wait for a result, and returns when it does.
func (h *held) ask(ctx context.Context, t *testing.T) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	before := h.waits()
	go func() {
		_, err := h.Do(ctx)
		done <- err
	}()
	for deadline := time.Now().Add(time.Minute); h.waits() == before; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not wait")
		}
	}
	return done
}

func (h *held) waits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting
}

// Whoever waits for a database that hangs waits for one call, not for as many as there are others.
func TestWhoWaitsSharesTheFailure(t *testing.T) {
	t.Parallel()
	h := newHeld()
	var waiting []<-chan error
	for range 9 {
		waiting = append(waiting, h.ask(t.Context(), t))
	}
	failure := errors.New("it hangs")
	h.end <- failure
	for i, done := range waiting {
		if err := <-done; !errors.Is(err, failure) {
			t.Errorf("%d was told %v", i, err)
		}
	}
	if n := h.calls.Load(); n != 1 {
		t.Errorf("%d calls were made, want 1", n)
	}
	again := h.ask(t.Context(), t)
	h.end <- nil
	if err := <-again; err != nil {
		t.Errorf("after the failure: %v", err)
	}
}

// A result is never older than the request for it, and those who wait share one.
func TestWhoWaitsSharesTheNextCall(t *testing.T) {
	t.Parallel()
	h := newHeld()
	first := h.ask(t.Context(), t)
	second, third := h.ask(t.Context(), t), h.ask(t.Context(), t)
	h.end <- nil
	if err := <-first; err != nil {
		t.Error(err)
	}
	select {
	case err := <-second:
		t.Fatalf("was answered by a call that began before it: %v", err)
	case h.end <- nil:
	}
	for _, done := range []<-chan error{second, third} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := h.calls.Load(); n != 2 {
		t.Errorf("%d calls were made, want 2", n)
	}
}

func TestWhoWaitsHeedsItsContext(t *testing.T) {
	t.Parallel()
	h := newHeld()
	ctx, cancel := context.WithCancel(t.Context())
	first := h.ask(ctx, t)
	second := h.ask(ctx, t)
	stays := h.ask(t.Context(), t)
	cancel()
	for _, done := range []<-chan error{first, second} {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	h.end <- nil // the call goes on without the one who began it
	h.end <- nil
	if err := <-stays; err != nil {
		t.Error(err)
	}
}

func TestWhatWaitsForACallIsBounded(t *testing.T) {
	t.Parallel()
	h := newHeld()
	h.waiting = maxWaiting - 1
	last := h.ask(t.Context(), t)
	if _, err := h.Do(t.Context()); !errors.Is(err, ErrOverloaded) {
		t.Errorf("one too many got %v", err)
	}
	h.end <- nil
	if err := <-last; err != nil {
		t.Error(err)
	}
}
