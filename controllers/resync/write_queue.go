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
	// None means no difference.
	None Difference = iota
	// Live is a difference only in values that every payment may change: balances, counts, and messages of conditions
	// about deliveries.
	Live
	// Delivery is a difference in a condition that every delivery may change, such as WebhookReady.
	Delivery
	// Other is any other difference.
	Other
)

const (
	// burst is the size of the token bucket, in writes.
	burst = 50
	// quietAfter is the time without a change after which a resource counts as quiet.
	quietAfter = 10 * time.Second
	// headStart is added to the age of a quiet resource's last write when the queue is ordered. So quiet resources come
	// first, but they cannot delay busy resources forever.
	headStart = 2 * time.Minute
	// checkAfter is the time after which a waiting sandbox is reconciled without a write of live values, because its
	// conditions may have changed.
	checkAfter = 10 * time.Second
	// flapping is the interval in which the first write of a resource's conditions about deliveries needs no token of the
	// budget. Further writes in this interval need one.
	flapping = 30 * time.Second
	// forgetAfter is the time without a change after which the queue forgets a resource. A forgotten resource counts as
	// never written.
	forgetAfter = 10 * time.Minute
)

// writeQueue decides when live values are written to the status of a resource. The resource with the oldest write comes
// first. Quiet resources have a head start.
type writeQueue struct {
	clock clock.WithTicker

	mutex     sync.Mutex
	budget    *bucket
	resources map[Change]*resource
	waiting   waitingResources
	arrivals  int           // number of calls of push; breaks ties between equal ranks
	filled    chan struct{} // has an element after push
	forgotten time.Time     // time of the last run of forget
}

// resource is the state of one resource in the queue.
type resource struct {
	change Change

	changed   time.Time // last change that the database reported
	written   time.Time // last write
	flapped   time.Time // last write of a delivery condition without a wait
	checked   time.Time // last time it was queued or reconciled
	isWaiting bool      // in writeQueue.waiting
	isGranted bool      // whether its next reconciliation may write

	// These fields are set while isWaiting is true.
	rank    time.Time // the lowest rank comes first
	ranked  time.Time // value of the field written at the last ranking
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

// add queues resources whose live values changed.
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

// next waits until the budget allows a write, and returns the first resource. The next reconciliation of the resource
// may write. If ctx ends, next returns the error of ctx.
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

// sleep waits until a resource is queued, or for the duration wait; 0 means no time limit.
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

// grant takes the first resource and a token. If no resource waits, ok is false and wait is 0. If no token is left, ok
// is false and wait is the time until the next token.
func (q *writeQueue) grant() (_ Change, wait time.Duration, ok bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	now := q.clock.Now()
	q.refreshFirst()
	if len(q.waiting) == 0 {
		return Change{}, 0, false
	}
	if !q.budget.allow(now) {
		return Change{}, q.budget.wait(now), false
	}
	r := heap.Pop(&q.waiting).(*resource)
	r.isWaiting, r.isGranted = false, true
	return r.change, 0, true
}

// refreshFirst corrects the order of the heap. If the first resource was written after it was ranked, refreshFirst
// ranks it again and checks the new first one.
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

// admit reports whether a reconciliation may write a status. If it returns false and d is not None, it queues the
// resource.
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
	case d == Live && (len(q.waiting) > 0 || !q.budget.allow(now)):
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

// unchecked returns the sandboxes that have waited for checkAfter, because their conditions may have changed. It does
// not return TestClients, because payments do not change their conditions.
func (q *writeQueue) unchecked() (unchecked []Change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	now := q.clock.Now()
	for _, r := range q.waiting {
		if !r.change.IsTestClient && !r.change.IsExpectation && now.Sub(r.checked) >= checkAfter {
			r.checked = now
			unchecked = append(unchecked, r.change)
		}
	}
	return unchecked
}

// resource returns the state of a resource, and adds it if necessary. The caller of this and of the following methods
// holds the mutex.
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

// forget removes the resources without a change for forgetAfter. It runs at most once a minute.
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

// waitingResources is a heap, ordered by rank, then by arrival.
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
