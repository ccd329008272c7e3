package worker

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/queues"
)

const (
	// slowAfter is the duration of an attempt after which its receiver counts as slow.
	slowAfter = time.Second
	// slowAfterFirst replaces slowAfter for a receiver that has never answered this worker.
	slowAfterFirst = 250 * time.Millisecond
	// initialLimit is the concurrency limit that a tenant begins with. Each quick answer adds one.
	initialLimit = 16
	// slowLimit is the concurrency limit of a tenant after its receiver did not answer. Each later answer, even a slow
	// one, adds one to the limit.
	slowLimit = 2
	// forgetAfter is how long a tenant that has nothing due is remembered.
	forgetAfter = 10 * time.Minute
)

// speed is how fast a tenant's attempts end, as far as this worker knows.
type speed int

const (
	unknown speed = iota
	quick
	slow   // the last attempt was slow or had no answer, or a running attempt is slow
	speeds // number of speeds
)

// fairQueue grants a worker's slots to the tenants with due rows, in turn. An attempt at a slow receiver keeps its slot
// for long. Therefore all slow tenants together get at most half of the slots, and all unknown tenants at most a
// quarter. A tenant whose receiver does not answer gets only a few slots. Quick tenants may use all slots.
type fairQueue struct {
	slots, perTenant int // maximum of running attempts: of all tenants, and of one
	now              func() time.Time
	freed            chan struct{} // receives a value when a slot may have become free

	mu        sync.Mutex
	tenants   map[int64]*tenantQueue
	busy      map[int64]*tenantQueue // tenants with running attempts
	due       []*tenantQueue         // tenants that may have more due rows
	asking    []*tenantQueue         // tenants for which a caller of ask waits
	turn      int64
	forgotten time.Time // time of the last removal of tenants
}

// tenantQueue is the state of one tenant in a worker.
type tenantQueue struct {
	queues.DueTenant
	speed     speed
	limit     int       // maximum of running attempts
	running   int       // slots taken
	recording int       // slots of attempts that have ended and whose results are being recorded
	overdue   int       // slots of attempts that have run for longer than slowAfter or slowAfterFirst
	served    int64     // turn at which it last got slots
	notBefore time.Time // earliest time of the next lease
	seen      time.Time
	asked     []chan int // channels of waiting callers of ask, which receive slots
}

func newFairQueue(slots, perTenant int, now func() time.Time) *fairQueue {
	return &fairQueue{
		slots: slots, perTenant: min(perTenant, slots), now: now, freed: make(chan struct{}, 1),
		tenants: map[int64]*tenantQueue{}, busy: map[int64]*tenantQueue{},
	}
}

// setDue replaces the list of tenants with due rows.
func (q *fairQueue) setDue(found []queues.DueTenant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	q.due = q.due[:0]
	for _, tenant := range found {
		t := q.tenant(tenant)
		t.DueTenant, t.seen = tenant, now
		q.due = append(q.due, t)
	}
	q.forget(now)
}

// tenant returns the queue of a tenant. It adds a missing queue, with the speed that other workers recorded.
func (q *fairQueue) tenant(found queues.DueTenant) *tenantQueue {
	if known := q.tenants[found.Tenant]; known != nil {
		return known
	}
	t := &tenantQueue{limit: initialLimit}
	switch {
	case found.EndpointFailing:
		t.speed, t.limit = slow, slowLimit
	case found.EndpointWorked:
		t.speed = quick
	}
	q.tenants[found.Tenant] = t
	return t
}

func (q *fairQueue) forget(now time.Time) {
	if now.Sub(q.forgotten) < forgetAfter/10 {
		return
	}
	q.forgotten = now
	maps.DeleteFunc(q.tenants, func(_ int64, t *tenantQueue) bool {
		return t.running+len(t.asked) == 0 && now.Sub(t.seen) > forgetAfter
	})
}

// ask waits for slots of a tenant, in turn with the tenants in due. The caller then leases the rows itself, and passes
// the grant to the method leased. If ctx ends first, ask returns a grant of 0 slots.
func (q *fairQueue) ask(ctx context.Context, tenant queues.DueTenant) queues.SlotGrant {
	granted := make(chan int, 1)
	q.mu.Lock()
	t := q.tenant(tenant)
	t.DueTenant, t.seen = tenant, q.now()
	if t.asked = append(t.asked, granted); len(t.asked) == 1 {
		q.asking = append(q.asking, t)
	}
	q.mu.Unlock()
	q.wake()
	select {
	case n := <-granted:
		return queues.SlotGrant{DueTenant: tenant, Slots: n}
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case n := <-granted: // granted after ctx ended
		q.release(tenant.Tenant, n)
	default:
		q.answered(t, slices.Index(t.asked, granted))
	}
	return queues.SlotGrant{}
}

// answered removes the i-th waiting caller of ask from a tenant.
func (q *fairQueue) answered(t *tenantQueue, i int) {
	if t.asked = slices.Delete(t.asked, i, i+1); len(t.asked) == 0 {
		q.asking = slices.DeleteFunc(q.asking, func(other *tenantQueue) bool { return other == t })
	}
}

// waiting reports whether a tenant may have more due rows, or a caller of ask waits.
func (q *fairQueue) waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.due)+len(q.asking) > 0
}

// grantSlots grants free slots to the tenants with due rows, one each in turn. The tenant that has waited longest comes
// first. Callers of ask receive their grants over their channels; grantSlots returns the other grants.
func (q *fairQueue) grantSlots() []queues.SlotGrant {
	q.mu.Lock()
	defer q.mu.Unlock()
	free := q.free()
	now := q.now()
	var candidates []*tenantQueue
	for i, t := range slices.Concat(q.asking, q.due) {
		if !t.notBefore.After(now) && (i < len(q.asking) || len(t.asked) == 0) {
			candidates = append(candidates, t)
		}
	}
	slices.SortStableFunc(candidates, func(a, b *tenantQueue) int { return cmp.Compare(a.served, b.served) })
	granted := map[*tenantQueue]int{}
	var order []*tenantQueue
	for len(candidates) > 0 {
		candidates = slices.DeleteFunc(candidates, func(t *tenantQueue) bool {
			if t.running-t.recording >= q.limitOf(t) || t.running >= 2*q.perTenant || !free.acquire(t.currentSpeed()) {
				return true
			}
			t.running++
			if granted[t]++; granted[t] == 1 {
				order = append(order, t)
			}
			return false
		})
	}
	grants := make([]queues.SlotGrant, 0, len(order))
	for _, t := range order {
		q.turn++
		t.served = q.turn
		q.busy[t.Tenant] = t
		if len(t.asked) > 0 {
			t.asked[0] <- granted[t]
			q.answered(t, 0)
			continue
		}
		grants = append(grants, queues.SlotGrant{DueTenant: t.DueTenant, Slots: granted[t]})
	}
	return grants
}

// currentSpeed returns a tenant's speed. The speed is slow if a running attempt is overdue.
func (t *tenantQueue) currentSpeed() speed {
	if t.overdue > 0 {
		return slow
	}
	return t.speed
}

// limitOf returns how many attempts of a tenant may run at a time.
func (q *fairQueue) limitOf(t *tenantQueue) int {
	switch {
	case t.Probe:
		return 1
	case t.overdue > 0 && t.speed != slow: // the receiver has just become slow, or hangs
		return min(slowLimit, q.perTenant)
	}
	return min(t.limit, q.perTenant)
}

// freeSlots counts free slots.
type freeSlots struct {
	all      int
	notQuick int         // usable by slow and unknown tenants together
	of       [speeds]int // usable by the tenants of a speed
}

func (q *fairQueue) free() freeSlots {
	f := freeSlots{all: q.slots, notQuick: max(1, q.slots*3/4)}
	f.of[unknown], f.of[slow], f.of[quick] = max(1, q.slots/4), max(1, q.slots/2), q.slots
	for _, t := range q.busy {
		f.all -= t.running
		f.of[t.currentSpeed()] -= t.running
		if t.currentSpeed() != quick {
			f.notQuick -= t.running
		}
	}
	return f
}

func (f *freeSlots) acquire(s speed) bool {
	if f.all <= 0 || f.of[s] <= 0 || s != quick && f.notQuick <= 0 {
		return false
	}
	f.all--
	f.of[s]--
	if s != quick {
		f.notQuick--
	}
	return true
}

// leased records the results of grants. The parameters found and leased count the due rows and the leased rows of each
// tenant. leased frees the slots that were not used. A tenant with fewer due rows than slots gets no new grant before
// the next poll.
func (q *fairQueue) leased(grants []queues.SlotGrant, found, leased map[int64]int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	exhausted := map[int64]bool{}
	for _, s := range grants {
		q.release(s.Tenant, s.Slots-leased[s.Tenant])
		exhausted[s.Tenant] = found[s.Tenant] < s.Slots || s.Probe
	}
	q.due = slices.DeleteFunc(q.due, func(t *tenantQueue) bool { return exhausted[t.Tenant] })
}

// done records that a tenant has no more due rows. It gets no new grant before the next poll.
func (q *fairQueue) done(tenant int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due = slices.DeleteFunc(q.due, func(t *tenantQueue) bool { return t.Tenant == tenant })
}

// started records the start of a tenant's attempt. The caller calls the returned function when the attempt ends, and
// the method recorded of the queue after the result of the attempt is written. Between the two calls, the attempt does
// not count for the tenant's limit, but it keeps its slot.
func (q *fairQueue) started(tenant int64) (ended func(attemptEnd)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.tenants[tenant]
	limit := slowAfter
	if t.speed == unknown {
		limit = slowAfterFirst
	}
	var overdue, over bool
	timer := time.AfterFunc(limit, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if overdue = !over; overdue {
			t.overdue++
			q.wake() // the tenant may be slow now instead of unknown, which frees slots for unknown tenants
		}
	})
	return func(end attemptEnd) {
		timer.Stop()
		q.mu.Lock()
		defer q.mu.Unlock()
		over = true
		t.recording++
		if overdue {
			t.overdue--
		}
		q.adapt(t, end)
		q.wake()
	}
}

// attemptEnd is how an attempt ended. It decides the tenant's next concurrency limit.
type attemptEnd int

const (
	answeredSoon attemptEnd = iota // also if the receiver refused
	answeredLate
	notAnswered
	notSent     // nothing could be sent; the tenant gets no slots for the duration of a lease
	lostByFault // a fault dropped the message; the limit stays
)

func attemptEndOf(answered bool, took time.Duration) attemptEnd {
	switch {
	case !answered:
		return notAnswered
	case took > slowAfter:
		return answeredLate
	}
	return answeredSoon
}

// adapt changes a tenant's concurrency limit after an attempt.
func (q *fairQueue) adapt(t *tenantQueue, end attemptEnd) {
	switch end {
	case notSent:
		t.notBefore = q.now().Add(lease)
	case notAnswered:
		t.speed, t.limit = slow, slowLimit
	case answeredLate:
		if t.speed != slow {
			t.speed, t.limit = slow, slowLimit
		}
		t.limit = min(t.limit+1, q.perTenant)
	case answeredSoon:
		t.speed, t.limit = quick, min(t.limit+1, q.perTenant)
	}
}

// recorded frees the slot of an attempt once its result is recorded.
func (q *fairQueue) recorded(tenant int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tenants[tenant].recording--
	q.release(tenant, 1)
	q.wake()
}

// unused frees a slot whose attempt has not started.
func (q *fairQueue) unused(tenant int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release(tenant, 1)
}

func (q *fairQueue) release(tenant int64, n int) {
	t := q.tenants[tenant]
	if t.running -= n; t.running == 0 {
		delete(q.busy, tenant)
	}
}

func (q *fairQueue) wake() {
	select {
	case q.freed <- struct{}{}:
	default:
	}
}
