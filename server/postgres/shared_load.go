package postgres

import (
	"context"
	"sync"
	"time"
)

// SharedLoad runs one call at a time for all who need its result, which is never older than their request: whoever comes while a call is
// running shares the next one. A call that fails fails also for those who wait for the next: nobody waits for a database that hangs
// longer than for one call.
type SharedLoad[T any] struct {
	Run     func(context.Context) (T, error)
	Timeout time.Duration // of a call

	mu      sync.Mutex
	running *loaded[T]
	next    *loaded[T] // nil: nobody waits for it
	waiting int
}

// loaded is what a call comes to.
type loaded[T any] struct {
	done  chan struct{} // closed when the other fields are there
	value T
	err   error
}

// Do returns the result of a call that begins after this one. It returns the context's error when that ends first, which does not
// stop the call, and [ErrOverloaded] when too many wait already.
func (l *SharedLoad[T]) Do(ctx context.Context) (T, error) {
	r, err := l.join(ctx)
	if err != nil {
		return *new(T), err
	}
	defer l.leave()
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}

func (l *SharedLoad[T]) join(ctx context.Context) (*loaded[T], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting >= maxWaiting {
		return nil, ErrOverloaded
	}
	l.waiting++
	if l.running == nil {
		l.running = &loaded[T]{done: make(chan struct{})}
		go l.fly(context.WithoutCancel(ctx))
		return l.running, nil
	}
	if l.next == nil {
		l.next = &loaded[T]{done: make(chan struct{})}
	}
	return l.next, nil
}

func (l *SharedLoad[T]) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting--
}

// fly makes calls as long as somebody waits for one.
func (l *SharedLoad[T]) fly(ctx context.Context) {
	for again := true; again; {
		bounded, cancel := context.WithTimeout(ctx, l.Timeout)
		value, err := l.Run(bounded)
		cancel()
		again = l.land(value, err)
	}
}

// land tells everybody whom a call's result concerns, and reports whether another call is waited for.
func (l *SharedLoad[T]) land(value T, err error) (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running.value, l.running.err = value, err
	close(l.running.done)
	if err != nil && l.next != nil {
		l.next.err = err
		close(l.next.done)
		l.next = nil
	}
	l.running, l.next = l.next, nil
	return l.running != nil
}
