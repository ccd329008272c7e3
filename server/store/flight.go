package store

import (
	"context"
	"sync"
	"time"
)

// flight runs one call at a time for all who need its result, which is never older than their request: whoever comes while a call is
// running shares the next one. A call that fails fails also for those who wait for the next: nobody waits for a database that hangs
// longer than for one call.
type flight[T any] struct {
	run     func(context.Context) (T, error)
	timeout time.Duration // of a call

	mu      sync.Mutex
	running *result[T]
	next    *result[T] // nil: nobody waits for it
	waiting int
}

// result is what a call comes to.
type result[T any] struct {
	done  chan struct{} // closed when the other fields are there
	value T
	err   error
}

// do returns the result of a call that begins after this one. It returns the context's error when that ends first, which does not
// stop the call, and [ErrOverloaded] when too many wait already.
func (f *flight[T]) do(ctx context.Context) (T, error) {
	r, err := f.join(ctx)
	if err != nil {
		return *new(T), err
	}
	defer f.leave()
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}

func (f *flight[T]) join(ctx context.Context) (*result[T], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting >= maxWaiting {
		return nil, ErrOverloaded
	}
	f.waiting++
	if f.running == nil {
		f.running = &result[T]{done: make(chan struct{})}
		go f.fly(context.WithoutCancel(ctx))
		return f.running, nil
	}
	if f.next == nil {
		f.next = &result[T]{done: make(chan struct{})}
	}
	return f.next, nil
}

func (f *flight[T]) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting--
}

// fly makes calls as long as somebody waits for one.
func (f *flight[T]) fly(ctx context.Context) {
	for again := true; again; {
		bounded, cancel := context.WithTimeout(ctx, f.timeout)
		value, err := f.run(bounded)
		cancel()
		again = f.land(value, err)
	}
}

// land tells everybody whom a call's result concerns, and reports whether another call is waited for.
func (f *flight[T]) land(value T, err error) (again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running.value, f.running.err = value, err
	close(f.running.done)
	if err != nil && f.next != nil {
		f.next.err = err
		close(f.next.done)
		f.next = nil
	}
	f.running, f.next = f.next, nil
	return f.running != nil
}
