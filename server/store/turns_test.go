package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// queueUp has somebody wait in a tenant's line, and returns when it does.
func queueUp(t *testing.T, turns *turns, tenant int64) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	before := turns.lengths()
	go func() { done <- turns.take(t.Context(), tenant) }()
	for deadline := time.Now().Add(time.Minute); turns.lengths() == before; {
		if time.Now().After(deadline) {
			t.Fatal("it does not wait")
		}
		time.Sleep(100 * time.Microsecond)
	}
	return done
}

func (t *turns) lengths() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}

func TestTurnsGoAround(t *testing.T) {
	t.Parallel()
	turns := newTurns(1, 0, time.Now)
	if err := turns.take(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	var order []int64
	hot := []<-chan error{queueUp(t, turns, 1), queueUp(t, turns, 1), queueUp(t, turns, 1)}
	cold := queueUp(t, turns, 2)
	turns.give(1)
	for range 4 {
		select {
		case <-hot[0]:
			order, hot = append(order, 1), hot[1:]
			turns.give(1)
		case <-cold:
			order = append(order, 2)
			turns.give(2)
		}
		if len(hot) == 0 {
			hot = append(hot, nil)
		}
	}
	if want := [4]int64{1, 2, 1, 1}; [4]int64(order) != want {
		t.Errorf("turns in the order %v, want %v", order, want)
	}
	if len(turns.lines) != 0 || turns.free != 1 {
		t.Errorf("left: %d lines, %d free", len(turns.lines), turns.free)
	}
}

func TestTurnsAreNeverAllOfOneSandbox(t *testing.T) {
	t.Parallel()
	turns := newTurns(8, 0, time.Now)
	for range 6 {
		if err := turns.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	seventh := queueUp(t, turns, 1)
	for range 2 {
		if err := turns.take(t.Context(), 2); err != nil { // at once
			t.Fatal(err)
		}
	}
	turns.give(2)
	select {
	case <-seventh:
		t.Error("a seventh of eight turns is given to one sandbox")
	default:
	}
	turns.give(1)
	if err := <-seventh; err != nil {
		t.Error(err)
	}
}

func TestTurnsRefuseWhatCannotBeServedInGoodTime(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	turns := newTurns(1, time.Second, func() time.Time { return time.Unix(0, clock.Load()) })
	if err := turns.take(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	first := queueUp(t, turns, 1)
	clock.Add(int64(time.Second))
	second := queueUp(t, turns, 1)
	clock.Add(1)
	if err := turns.take(t.Context(), 1); err != ErrOverloaded {
		t.Errorf("got %v", err)
	}
	if !errors.Is(ErrOverloaded, ErrUnavailable) {
		t.Error("who does not know what it is takes it for something else than an absence")
	}
	other := queueUp(t, turns, 2) // its own line is short
	turns.give(1)
	<-first
	turns.give(1)
	<-other // in rotation
	turns.give(2)
	<-second
	turns.give(1)
}

func TestTurnsBoundWhatWaits(t *testing.T) {
	t.Parallel()
	turns := newTurns(1, time.Hour, time.Now)
	if err := turns.take(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	fill := func(most int, tenant func(i int) int64) {
		for i := turns.lengths(); i < most; i++ {
			wait.Go(func() { _ = turns.take(ctx, tenant(i)) })
		}
		for turns.lengths() < most {
			time.Sleep(100 * time.Microsecond)
		}
	}
	refused := func(what string, tenant int64) {
		t.Helper()
		if err := turns.take(t.Context(), tenant); err != ErrOverloaded {
			t.Errorf("%s: got %v", what, err)
		}
	}
	fill(maxWaiting, func(i int) int64 { return int64(i % 50) })
	refused("who has others waiting", 49)
	fill(maxQuiet, func(i int) int64 { return int64(1000 + i) }) // each waits alone in its line: the others keep nobody out
	refused("who has another waiting, beyond the second bound", 1000+maxWaiting)
	refused("who waits alone, beyond the second bound", 99)
	cancel()
	wait.Wait()
	turns.give(0)
	if turns.waiting != 0 || len(turns.lines) != 0 || len(turns.next) != 0 || turns.free != 1 {
		t.Errorf("left: %d waiting, %d lines, %d free", turns.waiting, len(turns.lines), turns.free)
	}
}
