package resync

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Difference is the kind of difference between a computed status and that of the API server.
type Difference int

const (
	// None: there is nothing to write.
	None Difference = iota
	// Live is a difference in what payments change all the time: balances, counts, and the texts of conditions about deliveries.
	Live
	// Delivery is a difference in a condition that can change with every delivery, such as WebhookReady.
	Delivery
	// Other is any other difference: what a user did, or has to know.
	Other
)

const (
	// burst is how many resources that were quiet are written at once.
	burst = 50
	// quietAfter is how long nothing happened in a resource that counts as quiet.
	quietAfter = 10 * time.Second
	// headStart is added to the age of a quiet resource's last write, for the order. It is finite, so that busy
	// resources are written, too, when more resources become active than the budget allows.
	headStart = 2 * time.Minute
	// checkAfter is how long a sandbox waits for the budget until it is reconciled without it, because its conditions may have changed.
	checkAfter = 10 * time.Second
	// flapping is the time in which the conditions about deliveries of a resource change for free once.
	flapping = 30 * time.Second
	// forgetAfter is how long the queue remembers a resource without changes. After that, the resource counts as one
	// that was never written.
	forgetAfter = 10 * time.Minute
)

// writeQueue decides when live values are written to the status of a resource. The resource whose last write is oldest comes first,
// and those that were quiet come before those that are busy.
type writeQueue struct {
	clock clock.WithTicker

	mutex     sync.Mutex
	budget    *bucket
	resources map[Change]*resource
	waiting   waitingResources
	arrivals  int           // so far, which decides between equals
	filled    chan struct{} // has an element after something was queued
	forgotten time.Time     // when forget ran last
}

// resource is the state of one resource in the queue.
type resource struct {
	change Change

	changed   time.Time // reported by the database
	written   time.Time
	flapped   time.Time // when a condition about deliveries was written without waiting
	checked   time.Time // when it was queued or reconciled
	isWaiting bool
	isGranted bool // its next reconciliation may write

	// While it is waiting:
	rank    time.Time // the lowest comes first
	ranked  time.Time // written, when rank was computed
	arrival int
}

func newWriteQueue(clock clock.WithTicker, writesPerSecond float64) *writeQueue {
	return &writeQueue{
		clock:     clock,
		budget:    newBucket(writesPerSecond, burst, clock.Now()),
		resources: make(map[Change]*resource),
		filled:    make(chan struct{}, 1),
	}
}

// add queues resources in which something happened.
func (q *writeQueue) add(changes []Change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	now := q.clock.Now()
	q.forget(now)
	for _, c := range changes {
		r := q.resource(c)
		q.push(r, now)
		r.changed = now
	}
}

// next waits until the budget allows a write, and returns the resource that comes first. Its next reconciliation may write. It
// returns the context's error.
func (q *writeQueue) next(ctx context.Context) (Change, error) {
	for {
		c, wait, ok := q.grant()
		if ok {
			return c, nil
		}
		if err := q.sleep(ctx, wait); err != nil {
			return Change{}, err
		}
	}
}

// sleep waits until something is queued, or until wait has passed; 0: for ever.
func (q *writeQueue) sleep(ctx context.Context, wait time.Duration) error {
	var passed <-chan time.Time
	if wait > 0 {
		timer := q.clock.NewTimer(wait)
		defer timer.Stop()
		passed = timer.C()
	}
	select {
	case <-q.filled:
		return nil
	case <-passed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// grant takes the first resource and a token. It reports false if there is no resource, or no token for wait.
func (q *writeQueue) grant() (_ Change, wait time.Duration, ok bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	now := q.clock.Now()
	q.refreshFirst()
	if len(q.waiting) == 0 {
		return Change{}, 0, false
	}
	if !q.budget.take(now) {
		return Change{}, q.budget.wait(now), false
	}
	r := heap.Pop(&q.waiting).(*resource)
	r.isWaiting, r.isGranted = false, true
	return r.change, 0, true
}

// refreshFirst moves the first resource back if it was written while it waited, until the first one is really first.
func (q *writeQueue) refreshFirst() {
	for len(q.waiting) > 0 {
		first := q.waiting[0]
		if !first.written.After(first.ranked) {
			return
		}
		first.rank, first.ranked = first.written, first.written
		heap.Fix(&q.waiting, 0)
	}
}

// admit decides whether a reconciliation writes a status. If it does not, it is queued if there is something to write.
func (q *writeQueue) admit(c Change, d Difference) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	now, r := q.clock.Now(), q.resource(c)
	r.checked = now
	granted := r.isGranted
	r.isGranted = false
	if d == Delivery && now.Sub(r.flapped) < flapping {
		d = Live
	}
	switch {
	case d == None:
		if granted {
			q.budget.putBack()
			q.signal()
		}
		return false
	case granted:
	case d == Live && (len(q.waiting) > 0 || !q.budget.take(now)):
		q.push(r, now)
		return false
	case d != Live:
		q.budget.spend(now)
	}
	r.written = now
	if d == Delivery {
		r.flapped = now
	}
	return true
}

// unchecked returns the sandboxes that have waited for long: their conditions may have changed. The conditions of
// TestClients do not change by themselves.
func (q *writeQueue) unchecked() (unchecked []Change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	now := q.clock.Now()
	for _, r := range q.waiting {
		if !r.change.IsTestClient && now.Sub(r.checked) >= checkAfter {
			r.checked = now
			unchecked = append(unchecked, r.change)
		}
	}
	return unchecked
}

// resource returns a resource of the queue, and adds it if necessary. The caller holds the mutex, here and below.
func (q *writeQueue) resource(c Change) *resource {
	r := q.resources[c]
	if r == nil {
		r = &resource{change: c}
		q.resources[c] = r
	}
	return r
}

// push queues a resource, unless it waits already.
func (q *writeQueue) push(r *resource, now time.Time) {
	if r.isWaiting {
		return
	}
	q.arrivals++
	r.isWaiting, r.checked, r.arrival = true, now, q.arrivals
	r.rank, r.ranked = r.written, r.written
	if now.Sub(r.changed) >= quietAfter {
		r.rank = r.rank.Add(-headStart)
	}
	heap.Push(&q.waiting, r)
	q.signal()
}

func (q *writeQueue) signal() {
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// forget forgets the resources in which nothing happened for long, once a minute.
func (q *writeQueue) forget(now time.Time) {
	if now.Sub(q.forgotten) < time.Minute {
		return
	}
	q.forgotten = now
	for c, r := range q.resources {
		isQuiet := now.Sub(r.changed) > forgetAfter && now.Sub(r.written) > forgetAfter && now.Sub(r.checked) > forgetAfter
		if isQuiet && !r.isWaiting {
			delete(q.resources, c)
		}
	}
}

// waitingResources is a heap: the lowest rank is first, and the first arrival among equals.
type waitingResources []*resource

func (w waitingResources) Len() int { return len(w) }

func (w waitingResources) Less(i, j int) bool {
	if !w[i].rank.Equal(w[j].rank) {
		return w[i].rank.Before(w[j].rank)
	}
	return w[i].arrival < w[j].arrival
}

func (w waitingResources) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

func (w *waitingResources) Push(r any) { *w = append(*w, r.(*resource)) }

func (w *waitingResources) Pop() any {
	last := len(*w) - 1
	r := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	return r
}
