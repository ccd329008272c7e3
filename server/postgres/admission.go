package postgres

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	// maxWaiting bounds the statements that wait in all queues, and so their memory: about 40 KiB each.
	maxWaiting = 1000
	// maxQuiet is the same bound for a statement of a sandbox whose queue is empty. So sandboxes with many requests do
	// not keep out a sandbox with few.
	maxQuiet = 2 * maxWaiting
)

// Admission decides which sandbox's statement gets a connection next. Each sandbox has a queue. The queues are served
// round-robin, one statement at a time, so that a sandbox with a few requests does not wait for the thousands of
// another. No sandbox may hold all connections at once. So some connections stay free for other sandboxes, however long
// its statements take.
//
// Admission refuses a statement at once if its queue is too slow, that is, if the first statement in the queue has
// waited longer than maxQueueWait. A new statement would wait for at least as long.
type Admission struct {
	now          func() time.Time
	maxQueueWait time.Duration // a queue whose first statement has waited longer takes no more statements; 0: no limit
	each         int           // connections that a sandbox may hold at one time

	mu      sync.Mutex
	free    int
	waiting int
	queues  map[int64]*tenantQueue // of the sandboxes that hold a connection or wait for one
	next    []*tenantQueue         // the queues that are not empty, in the order in which they are served
}

type tenantQueue struct {
	held    int // connections
	waiting []*ticket
}

type ticket struct {
	since    time.Time
	admitted chan struct{} // is closed when the statement is admitted
}

// NewAdmission returns an admission that admits as many statements at one time as there are connections.
func NewAdmission(connections int, maxQueueWait time.Duration, now func() time.Time) *Admission {
	return &Admission{
		now: now, maxQueueWait: maxQueueWait, each: max(1, connections-max(1, connections/4)), free: connections,
		queues: map[int64]*tenantQueue{},
	}
}

// Unbounded returns an admission that admits any number of statements at one time. For statements that wait in the
// queue of a [Coalescer], it has the limits of the receiver a.
func (a *Admission) Unbounded() *Admission { return NewAdmission(math.MaxInt, a.maxQueueWait, a.now) }

// Acquire waits until the tenant may use a connection. The caller gives it back with [Admission.Release]. It returns
// [ErrOverloaded] at once if the statement would wait for too long, and the context's error if the context ends first.
func (a *Admission) Acquire(ctx context.Context, tenant int64) error {
	a.mu.Lock()
	q := a.queues[tenant]
	if q == nil {
		q = &tenantQueue{}
		a.queues[tenant] = q
	}
	if a.free > 0 && q.held < a.each && len(q.waiting) == 0 {
		a.free--
		q.held++
		a.mu.Unlock()
		return nil
	}
	var first time.Time
	if len(q.waiting) > 0 {
		first = q.waiting[0].since
	}
	w := &ticket{since: a.now(), admitted: make(chan struct{})}
	if err := a.join(first, w.since, len(q.waiting) == 0); err != nil {
		a.tidy(tenant, q)
		a.mu.Unlock()
		return err
	}
	if q.waiting = append(q.waiting, w); len(q.waiting) == 1 {
		a.next = append(a.next, q)
	}
	a.mu.Unlock()
	select {
	case <-w.admitted:
		return nil
	case <-ctx.Done():
		a.giveUp(tenant, q, w)
		return waitedFor(ctx, "a connection")
	}
}

// join counts a statement that begins to wait, or returns [ErrOverloaded]. The parameter first is the time at which the
// first statement in its queue began to wait, zero if the queue is empty. The parameter quiet is true if no other
// statement of its sandbox waits.
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

// expect is join for a statement that waits in the queue of a [Coalescer]. When n such statements have left that queue,
// the caller calls the method expected.
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

// giveUp removes a statement from its queue. If the statement was admitted in the meantime, giveUp releases its
// connection.
func (a *Admission) giveUp(tenant int64, q *tenantQueue, w *ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i < 0 {
		a.giveLocked(tenant, q)
		return
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	a.waiting--
	if len(q.waiting) == 0 {
		a.next = slices.DeleteFunc(a.next, func(other *tenantQueue) bool { return other == q })
	}
	a.tidy(tenant, q)
}

// Release gives back a connection.
func (a *Admission) Release(tenant int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.giveLocked(tenant, a.queues[tenant])
}

func (a *Admission) giveLocked(tenant int64, q *tenantQueue) {
	q.held--
	a.free++
	a.tidy(tenant, q)
	for tried := 0; a.free > 0 && tried < len(a.next); {
		q := a.next[0]
		a.next = a.next[1:]
		if q.held == a.each {
			a.next = append(a.next, q) // it is served after the queues that may get a connection
			tried++
			continue
		}
		a.serve(q)
	}
}

// serve gives a connection to the first statement in a queue, and puts the queue after the others.
func (a *Admission) serve(q *tenantQueue) {
	a.free--
	q.held++
	a.waiting--
	close(q.waiting[0].admitted)
	q.waiting[0] = nil
	if q.waiting = q.waiting[1:]; len(q.waiting) > 0 {
		a.next = append(a.next, q)
	}
}

// tidy removes the queue of a tenant that has no statement waiting and holds no connection.
func (a *Admission) tidy(tenant int64, q *tenantQueue) {
	if q.held == 0 && len(q.waiting) == 0 {
		delete(a.queues, tenant)
	}
}
