package postgres

import (
	"context"
	"sync"
	"time"
)

// SharedLoad runs one call at a time for all callers who need its result. A result is never older than the request for
// it: a caller who comes while a call is running shares the next one. If a call fails, the callers who wait
// for the next call get its error too: nobody waits longer than one call for a database that hangs.
type SharedLoad[T any] struct {
	Run     func(context.Context) (T, error)
	Timeout time.Duration // of a call

	mu      sync.Mutex
	running *loaded[T]
	next    *loaded[T] // nil: nobody waits for it
	waiting int
}

// loaded is the result of a call. Callers read it after the channel done is closed.
type loaded[T any] struct {
	done  chan struct{} // is closed when the other fields are set
	value T
	err   error
}

// Do returns the result of a call that begins after Do was called. It returns the context's error if ctx ends first,
// which does not stop the call, and [ErrOverloaded] if too many callers wait already.
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
		go l.runCalls(context.WithoutCancel(ctx))
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

// runCalls makes calls while somebody waits for one.
func (l *SharedLoad[T]) runCalls(ctx context.Context) {
	for again := true; again; {
		bounded, cancel := context.WithTimeout(ctx, l.Timeout)
		value, err := l.Run(bounded)
		cancel()
		again = l.publish(value, err)
	}
}

// publish gives the result of a call to those who wait for it, and reports whether somebody waits for another call.
func (l *SharedLoad[T]) publish(value T, err error) (again bool) {
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
