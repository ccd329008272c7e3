package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrOverloaded is returned when so much waits for the database that a request would not have its turn in good time. Nothing was
// done. It is an [ErrUnavailable].
var ErrOverloaded = fmt.Errorf("%w: too much waits for it", ErrUnavailable)

const (
	// maxWaiting bounds what waits in all lines where patience has an end, and so the memory that waiting takes: about 40 KiB each.
	maxWaiting = 1000
	// maxQuiet is that bound for one who waits in a line of which nobody else does: those who fill the first bound keep nobody out
	// who asks for little.
	maxQuiet = 2 * maxWaiting
)

// turns say whose statement gets a connection next, among the sandboxes. Each sandbox has a line of its own; lines are served in
// rotation, one statement at a time, so that a sandbox with a few requests does not wait behind another one's thousands. No sandbox
// has all connections at once: some are left for whoever comes next, however long the statements of the one take.
//
// What cannot be served in good time is refused at once. A line whose first has waited for long is too long for a newcomer, and
// who waits behind that one is served later still; there is nothing to estimate.
type turns struct {
	now      func() time.Time
	patience time.Duration // how long the first in a line may have waited when somebody else joins it; 0: for ever
	each     int           // turns that a sandbox may have at one time

	mu      sync.Mutex
	free    int
	waiting int
	lines   map[int64]*line // of the sandboxes that have a turn or wait for one
	next    []*line         // the lines in which somebody waits, in the order of their turns
}

type line struct {
	taken int
	queue []*waiter
}

type waiter struct {
	since time.Time
	turn  chan struct{} // closed when it is there
}

func newTurns(connections int, patience time.Duration, now func() time.Time) *turns {
	return &turns{
		now: now, patience: patience, each: max(1, connections-max(1, connections/4)), free: connections, lines: map[int64]*line{},
	}
}

// take waits for a turn, which has to be given back. It returns [ErrOverloaded] if it will not come in good time, and the
// context's error when that ends first.
func (t *turns) take(ctx context.Context, tenant int64) error {
	t.mu.Lock()
	l := t.lines[tenant]
	if l == nil {
		l = &line{}
		t.lines[tenant] = l
	}
	if t.free > 0 && l.taken < t.each && len(l.queue) == 0 {
		t.free--
		l.taken++
		t.mu.Unlock()
		return nil
	}
	var first time.Time
	if len(l.queue) > 0 {
		first = l.queue[0].since
	}
	w := &waiter{since: t.now(), turn: make(chan struct{})}
	if err := t.join(first, w.since, len(l.queue) == 0); err != nil {
		t.tidy(tenant, l)
		t.mu.Unlock()
		return err
	}
	if l.queue = append(l.queue, w); len(l.queue) == 1 {
		t.next = append(t.next, l)
	}
	t.mu.Unlock()
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
		t.giveUp(tenant, l, w)
		return waitedFor(ctx, "a connection")
	}
}

// join counts somebody who waits from now on, behind one who has waited since first, zero for nobody. Quiet is one of whose sandbox
// nobody else waits there.
func (t *turns) join(first, now time.Time, quiet bool) error {
	most := maxWaiting
	if quiet {
		most = maxQuiet
	}
	if t.patience > 0 && (t.waiting >= most || !first.IsZero() && now.Sub(first) > t.patience) {
		return ErrOverloaded
	}
	t.waiting++
	return nil
}

// expect counts somebody who waits in a line of another kind, which leads to this one, and expected those who do so no longer.
func (t *turns) expect(first, now time.Time, quiet bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.join(first, now, quiet)
}

func (t *turns) expected(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting -= n
}

// giveUp ends the waiting of somebody whose turn has not come, or has come at this moment.
func (t *turns) giveUp(tenant int64, l *line, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(l.queue, w)
	if i < 0 {
		t.giveLocked(tenant, l)
		return
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	t.waiting--
	if len(l.queue) == 0 {
		t.next = slices.DeleteFunc(t.next, func(other *line) bool { return other == l })
	}
	t.tidy(tenant, l)
}

// give ends a turn.
func (t *turns) give(tenant int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveLocked(tenant, t.lines[tenant])
}

func (t *turns) giveLocked(tenant int64, l *line) {
	l.taken--
	t.free++
	t.tidy(tenant, l)
	for tried := 0; t.free > 0 && tried < len(t.next); {
		l := t.next[0]
		t.next = t.next[1:]
		if l.taken == t.each {
			t.next = append(t.next, l) // it keeps its place behind those that may have a turn
			tried++
			continue
		}
		t.serve(l)
	}
}

// serve gives a turn to the first in a line, and puts the line behind the others.
func (t *turns) serve(l *line) {
	t.free--
	l.taken++
	t.waiting--
	close(l.queue[0].turn)
	l.queue[0] = nil
	if l.queue = l.queue[1:]; len(l.queue) > 0 {
		t.next = append(t.next, l)
	}
}

// tidy forgets a line that nobody needs.
func (t *turns) tidy(tenant int64, l *line) {
	if l.taken == 0 && len(l.queue) == 0 {
		delete(t.lines, tenant)
	}
}
