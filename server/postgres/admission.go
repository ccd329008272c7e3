package postgres

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	// maxWaiting bounds what waits in all lines where waiting is limited, and so the memory that waiting takes: about 40 KiB each.
	maxWaiting = 1000
	// maxQuiet is that bound for one who waits in a line of which nobody else does: those who fill the first bound keep nobody out
	// who asks for little.
	maxQuiet = 2 * maxWaiting
)

// Admission says whose statement gets a connection next, among the sandboxes. Each sandbox has a line of its own; lines are served in
// rotation, one statement at a time, so that a sandbox with a few requests does not wait behind another one's thousands. No sandbox
// has all connections at once: some are left for whoever comes next, however long the statements of the one take.
//
// What cannot be served in good time is refused at once. A line whose first has waited for long is too long for a newcomer, and
// who waits behind that one is served later still; there is nothing to estimate.
type Admission struct {
	now          func() time.Time
	maxQueueWait time.Duration // how long the first in a line may have waited when somebody else joins it; 0: for ever
	each         int           // turns that a sandbox may have at one time

	mu      sync.Mutex
	free    int
	waiting int
	lines   map[int64]*line // of the sandboxes that have a turn or wait for one
	next    []*line         // the lines in which somebody waits, in the order of their turns
}

type line struct {
	taken int
	queue []*ticket
}

type ticket struct {
	since    time.Time
	admitted chan struct{} // closed then
}

// NewAdmission admits as many statements at one time as there are connections.
func NewAdmission(connections int, maxQueueWait time.Duration, now func() time.Time) *Admission {
	return &Admission{
		now: now, maxQueueWait: maxQueueWait, each: max(1, connections-max(1, connections/4)), free: connections, lines: map[int64]*line{},
	}
}

// Unbounded admits every statement at once. What waits for it elsewhere is refused by the same rule.
func (a *Admission) Unbounded() *Admission { return NewAdmission(math.MaxInt, a.maxQueueWait, a.now) }

// Acquire waits for a turn, which has to be given back. It returns [ErrOverloaded] if it will not come in good time, and the
// context's error when that ends first.
func (a *Admission) Acquire(ctx context.Context, tenant int64) error {
	a.mu.Lock()
	l := a.lines[tenant]
	if l == nil {
		l = &line{}
		a.lines[tenant] = l
	}
	if a.free > 0 && l.taken < a.each && len(l.queue) == 0 {
		a.free--
		l.taken++
		a.mu.Unlock()
		return nil
	}
	var first time.Time
	if len(l.queue) > 0 {
		first = l.queue[0].since
	}
	w := &ticket{since: a.now(), admitted: make(chan struct{})}
	if err := a.join(first, w.since, len(l.queue) == 0); err != nil {
		a.tidy(tenant, l)
		a.mu.Unlock()
		return err
	}
	if l.queue = append(l.queue, w); len(l.queue) == 1 {
		a.next = append(a.next, l)
	}
	a.mu.Unlock()
	select {
	case <-w.admitted:
		return nil
	case <-ctx.Done():
		a.giveUp(tenant, l, w)
		return waitedFor(ctx, "a connection")
	}
}

// join counts somebody who waits from now on, behind one who has waited since first, zero for nobody. Quiet is one of whose sandbox
// nobody else waits there.
func (a *Admission) join(first, now time.Time, quiet bool) error {
	most := maxWaiting
	if quiet {
		most = maxQuiet
	}
	if a.maxQueueWait > 0 && (a.waiting >= most || !first.IsZero() && now.Sub(first) > a.maxQueueWait) {
		return ErrOverloaded
	}
	a.waiting++
	return nil
}

// expect counts somebody who waits in a line of another kind, which leads to this one, and expected those who do so no longer.
func (a *Admission) expect(first, now time.Time, quiet bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.join(first, now, quiet)
}

func (a *Admission) expected(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting -= n
}

// giveUp ends the waiting of somebody whose turn has not come, or has come at this moment.
func (a *Admission) giveUp(tenant int64, l *line, w *ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(l.queue, w)
	if i < 0 {
		a.giveLocked(tenant, l)
		return
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	a.waiting--
	if len(l.queue) == 0 {
		a.next = slices.DeleteFunc(a.next, func(other *line) bool { return other == l })
	}
	a.tidy(tenant, l)
}

// Release ends a turn.
func (a *Admission) Release(tenant int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.giveLocked(tenant, a.lines[tenant])
}

func (a *Admission) giveLocked(tenant int64, l *line) {
	l.taken--
	a.free++
	a.tidy(tenant, l)
	for tried := 0; a.free > 0 && tried < len(a.next); {
		l := a.next[0]
		a.next = a.next[1:]
		if l.taken == a.each {
			a.next = append(a.next, l) // it keeps its place behind those that may have a turn
			tried++
			continue
		}
		a.serve(l)
	}
}

// serve gives a turn to the first in a line, and puts the line behind the others.
func (a *Admission) serve(l *line) {
	a.free--
	l.taken++
	a.waiting--
	close(l.queue[0].admitted)
	l.queue[0] = nil
	if l.queue = l.queue[1:]; len(l.queue) > 0 {
		a.next = append(a.next, l)
	}
}

// tidy forgets a line that nobody needs.
func (a *Admission) tidy(tenant int64, l *line) {
	if l.taken == 0 && len(l.queue) == 0 {
		delete(a.lines, tenant)
	}
}
