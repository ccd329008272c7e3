package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// queueUp has somebody wait in a tenant's queue, and readmission when it does.
func queueUp(t *testing.T, admission *Admission, tenant int64) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	before := admission.lengths()
	go func() { done <- admission.Acquire(t.Context(), tenant) }()
	for deadline := time.Now().Add(time.Minute); admission.lengths() == before; {
		if time.Now().After(deadline) {
			t.Fatal("it does not wait")
		}
		time.Sleep(100 * time.Microsecond)
	}
	return done
}

func (a *Admission) lengths() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting
}

func TestAdmissionIsInRotation(t *testing.T) {
	t.Parallel()
	admission := NewAdmission(1, 0, time.Now)
	if err := admission.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	var order []int64
	hot := []<-chan error{queueUp(t, admission, 1), queueUp(t, admission, 1), queueUp(t, admission, 1)}
	cold := queueUp(t, admission, 2)
	admission.Release(1)
	for range 4 {
		select {
		case <-hot[0]:
			order, hot = append(order, 1), hot[1:]
			admission.Release(1)
		case <-cold:
			order = append(order, 2)
			admission.Release(2)
		}
		if len(hot) == 0 {
			hot = append(hot, nil)
		}
	}
	if want := [4]int64{1, 2, 1, 1}; [4]int64(order) != want {
		t.Errorf("admitted in the order %v, want %v", order, want)
	}
	if len(admission.queues) != 0 || admission.free != 1 {
		t.Errorf("left: %d queues, %d free", len(admission.queues), admission.free)
	}
}

func TestAdmissionIsNeverAllOfOneTenant(t *testing.T) {
	t.Parallel()
	admission := NewAdmission(8, 0, time.Now)
	for range 6 {
		if err := admission.Acquire(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	seventh := queueUp(t, admission, 1)
	for range 2 {
		if err := admission.Acquire(t.Context(), 2); err != nil { // at once
			t.Fatal(err)
		}
	}
	admission.Release(2)
	select {
	case <-seventh:
		t.Error("a seventh of eight connections is given to one sandbox")
	default:
	}
	admission.Release(1)
	if err := <-seventh; err != nil {
		t.Error(err)
	}
}

func TestAdmissionRefusesWhatWouldWaitTooLong(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	admission := NewAdmission(1, time.Second, func() time.Time { return time.Unix(0, clock.Load()) })
	if err := admission.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	first := queueUp(t, admission, 1)
	clock.Add(int64(time.Second))
	second := queueUp(t, admission, 1)
	clock.Add(1)
	if err := admission.Acquire(t.Context(), 1); err != ErrOverloaded {
		t.Errorf("got %v", err)
	}
	if !errors.Is(ErrOverloaded, ErrUnavailable) {
		t.Error("who does not know what it is takes it for something else than an absence")
	}
	other := queueUp(t, admission, 2) // its own queue is short
	admission.Release(1)
	<-first
	admission.Release(1)
	<-other // in rotation
	admission.Release(2)
	<-second
	admission.Release(1)
}

func TestAdmissionBoundsWhatWaits(t *testing.T) {
	t.Parallel()
	admission := NewAdmission(1, time.Hour, time.Now)
	if err := admission.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	fill := func(most int, tenant func(i int) int64) {
		for i := admission.lengths(); i < most; i++ {
			wait.Go(func() { _ = admission.Acquire(ctx, tenant(i)) })
		}
		for admission.lengths() < most {
			time.Sleep(100 * time.Microsecond)
		}
	}
	refused := func(what string, tenant int64) {
		t.Helper()
		if err := admission.Acquire(t.Context(), tenant); err != ErrOverloaded {
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
	admission.Release(0)
	if admission.waiting != 0 || len(admission.queues) != 0 || len(admission.next) != 0 || admission.free != 1 {
		t.Errorf("left: %d waiting, %d queues, %d free", admission.waiting, len(admission.queues), admission.free)
	}
}
