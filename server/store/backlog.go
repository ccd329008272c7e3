package store

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// maxBatch bounds the requests that are booked together.
	maxBatch = 64
	// bookingTimeout bounds the booking of several requests, unless the leader's own time ends before.
	bookingTimeout = 10 * time.Second
)

// floatKey names a float.
type floatKey = account[string]

// backlog books requests that change a float. One that finds nobody before it is booked alone and at once, as if there were no
// backlog. Those that come while the float is busy wait, in the order in which they come, and what waits together is booked
// together, in one statement.
//
// Look-ups are served in the same way: they are "booked" when they are found.
//
// Nobody works for the backlog: of those who wait, the first leads when the float is free again. It waits for its turn at the
// database, takes along who waits behind it by then, tells each what became of it, and passes the lead on. So nobody serves
// others for longer than its own booking takes, nothing has to be stopped, and what waits is served as long as its callers wait.
//
// A request is in one place at every moment: in the queue, or in the hands of the one leader that has taken it out. A leader
// answers all that it took, each once. One whose caller gave up waiting is removed from the queue; if it was taken before, it may
// still be booked, as any statement that nobody waits for any more. What a batch did not book is tried alone by its own caller:
// the statement for one says then what stands in the way, and whatever fails there fails only itself.
type backlog[T any] struct {
	// atOnce is how many bookings of one float are under way at one time. More than one would take turns at the float's row anyway.
	atOnce int
	turns  *turns
	shared bool // all sandboxes have one queue, in which each has one place
	// one books a request in the turn of its caller, without one if it has none yet.
	one func(ctx context.Context, at floatKey, request T, hasTurn bool) error
	// many books several requests in the turn of its caller, all that it books in one database transaction, and tells which. An
	// error means that none was booked, or, if it is an [ErrUnavailable], that nobody knows.
	many func(ctx context.Context, at floatKey, requests []T) (booked []bool, err error)

	mu    sync.Mutex
	lanes map[floatKey]*lane[T]
}

type lane[T any] struct {
	leading int
	queue   []*place[T]
}

type place[T any] struct {
	request T
	since   time.Time
	news    chan news // one, and then maybe the end of what it began
}

// news is what somebody who waits is told.
type news struct {
	lead  bool // its time to lead has come
	alone bool // it was not booked with others
	err   error
}

// book books a request. It returns the errors of one and, where it was booked with others, of many, [ErrOverloaded] if it would
// have to wait for too long, and the context's error when that ends first: the request may still be booked then.
func (b *backlog[T]) book(ctx context.Context, at floatKey, request T) error {
	p, err := b.queue(at, request)
	if err != nil {
		return err
	}
	told := news{lead: true}
	if p != nil {
		select {
		case told = <-p.news:
		case <-ctx.Done():
			return b.giveUp(ctx, at, p)
		}
	}
	if told.lead {
		told = b.lead(ctx, at, request)
	}
	if told.alone {
		return b.one(ctx, at, request, false)
	}
	return told.err
}

// queue returns a place in the queue of a float, or nil to whoever may lead at once.
func (b *backlog[T]) queue(at floatKey, request T) (*place[T], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lanes[at]
	if l == nil {
		l = &lane[T]{}
		if b.lanes == nil {
			b.lanes = map[floatKey]*lane[T]{}
		}
		b.lanes[at] = l
	}
	if l.leading < b.atOnce {
		l.leading++
		return nil, nil
	}
	p := &place[T]{request: request, since: b.turns.now(), news: make(chan news, 1)}
	var first time.Time
	if len(l.queue) > 0 {
		first = l.queue[0].since
	}
	if err := b.turns.expect(first, p.since, len(l.queue) == 0 || b.shared); err != nil {
		return nil, err
	}
	l.queue = append(l.queue, p)
	return p, nil
}

// lead books a request, with those that wait behind it.
func (b *backlog[T]) lead(ctx context.Context, at floatKey, request T) news {
	defer b.pass(at)
	if err := b.turns.take(ctx, at.tenant); err != nil {
		return news{err: err}
	}
	defer b.turns.give(at.tenant)
	others := b.take(at, maxBatch-1)
	if len(others) == 0 {
		return news{err: b.one(ctx, at, request, true)}
	}
	requests := make([]T, 1, 1+len(others))
	requests[0] = request
	for _, p := range others {
		requests = append(requests, p.request)
	}
	ctx, cancel := detached(ctx, bookingTimeout)
	defer cancel()
	verdict := together(b.many(ctx, at, requests))
	for i, p := range others {
		p.news <- verdict(i + 1)
	}
	return verdict(0)
}

// detached is a context that goes on when its parent is canceled, and ends with its parent's time or after the limit.
func detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	until := time.Now().Add(limit)
	if own, bounded := ctx.Deadline(); bounded && own.Before(until) {
		until = own
	}
	return context.WithDeadline(context.WithoutCancel(ctx), until)
}

// together makes what each request is told of what became of all.
func together(booked []bool, err error) func(i int) news {
	return func(i int) news {
		switch {
		case err != nil && unavailable(err):
			return news{err: err}
		case err != nil || !booked[i]:
			return news{alone: true}
		}
		return news{}
	}
}

// take takes the first requests out of a queue.
func (b *backlog[T]) take(at floatKey, most int) []*place[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lanes[at]
	n := min(most, len(l.queue))
	taken := slices.Clone(l.queue[:n])
	l.queue = slices.Delete(l.queue, 0, n)
	b.turns.expected(n)
	return taken
}

// pass passes the lead on to the first in the queue.
func (b *backlog[T]) pass(at floatKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lanes[at]
	if len(l.queue) > 0 {
		l.queue[0].news <- news{lead: true}
		l.queue = slices.Delete(l.queue, 0, 1)
		b.turns.expected(1)
		return
	}
	if l.leading--; l.leading == 0 {
		delete(b.lanes, at)
	}
}

// giveUp ends the waiting of somebody whose time is over. Who was told to lead at this moment passes that on.
func (b *backlog[T]) giveUp(ctx context.Context, at floatKey, p *place[T]) error {
	if b.leave(at, p) {
		return waitedFor(ctx, "the bookings before it")
	}
	select {
	case told := <-p.news:
		if told.lead {
			b.pass(at)
		} else if !told.alone {
			return told.err
		}
		return waitedFor(ctx, "the bookings before it")
	default: // a leader has taken it, and leaves its news where nobody looks
	}
	return ctx.Err()
}

// leave takes somebody out of a queue, and reports false for one who is not there any more.
func (b *backlog[T]) leave(at floatKey, p *place[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lanes[at]
	if l == nil {
		return false
	}
	i := slices.Index(l.queue, p)
	if i < 0 {
		return false
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	b.turns.expected(1)
	return true
}
