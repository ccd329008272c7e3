package postgres

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// maxBatch is the most requests in a batch.
	maxBatch = 64
	// batchTimeout bounds the work for a batch. The leader's own deadline may end it earlier.
	batchTimeout = 10 * time.Second
)

// QueueKey names a queue of a tenant, for example the queue of one float.
type QueueKey struct {
	Tenant int64
	Name   string
}

// Coalescer combines the requests of a queue into batches (group commit). A request that comes to an idle queue is done
// alone and at once, as if there were no coalescer. Requests that come in the meantime wait in the order of arrival.
// They are then done together, in one statement.
//
// A coalescer has no goroutine of its own, so nothing has to be stopped. When the queue is idle again, the first waiter
// becomes the leader. The leader waits for admission, takes the requests that wait by then, runs the batch, sends each
// waiter its result, and passes the lead to the next waiter. So a leader works for others no longer than for its own
// request.
//
// At every moment a request is either in the queue, or with the one leader that has taken it. A leader sends exactly
// one result for each request that it has taken. A caller that gives up is removed from the queue. If a leader has
// already taken its request, the request may still be done, like any statement whose caller is gone. If a batch did not
// do a request, the caller of the request does it alone. The statement for one request then returns the reason. A
// failure of this statement affects no other request.
type Coalescer[T any] struct {
	// AtOnce is the number of batches of one queue that may run at one time. For the queue of a float it is 1, since a
	// second batch would only wait for the lock of the float.
	AtOnce    int
	AtMost    int // the most requests in a batch; 0: maxBatch
	Admission *Admission
	Shared    bool // all tenants share one queue, in which each tenant has one request
	// TenantOf returns the tenant for which the batch of a leader acquires admission; nil: the tenant of the queue.
	TenantOf func(request T) int64
	// One does one request. admitted reports whether its caller has acquired admission. If not, One acquires admission.
	One func(ctx context.Context, at QueueKey, request T, admitted bool) error
	// Many does several requests in one database transaction. Its caller has acquired admission. done[i] reports
	// whether requests[i] was done. After [ErrUnavailable], this is unknown. After any other error, no request was
	// done.
	Many func(ctx context.Context, at QueueKey, requests []T) (done []bool, err error)

	mu     sync.Mutex
	queues map[QueueKey]*queue[T]
}

type queue[T any] struct {
	leaders int
	waiters []*waiter[T]
}

type waiter[T any] struct {
	request T
	since   time.Time
	results chan result // receives one result
}

// result is sent to a waiter.
type result struct {
	lead        bool // the waiter has to lead now
	exclusively bool // the batch did not do the request: the waiter does it alone
	err         error
}

// Do does a request, alone or in a batch, and returns the error of One or of Many. It returns [ErrOverloaded] if the
// request would wait for too long, and the context's error if the context ends first. In this last case the request may
// still be done.
func (c *Coalescer[T]) Do(ctx context.Context, at QueueKey, request T) error {
	w, err := c.join(at, request)
	if err != nil {
		return err
	}
	r := result{lead: true}
	if w != nil {
		select {
		case r = <-w.results:
		case <-ctx.Done():
			return c.giveUp(ctx, at, w)
		}
	}
	if r.lead {
		r = c.lead(ctx, at, request)
	}
	if r.exclusively {
		return c.One(ctx, at, request, false)
	}
	return r.err
}

// Waiting returns the number of requests that wait in all queues.
func (c *Coalescer[T]) Waiting() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.queues {
		n += len(q.waiters)
	}
	return n
}

// join adds a request to a queue and returns its waiter. It returns nil if the request may lead at once.
func (c *Coalescer[T]) join(at QueueKey, request T) (*waiter[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[at]
	if q == nil {
		q = &queue[T]{}
		if c.queues == nil {
			c.queues = map[QueueKey]*queue[T]{}
		}
		c.queues[at] = q
	}
	if q.leaders < c.AtOnce {
		q.leaders++
		return nil, nil
	}
	w := &waiter[T]{request: request, since: c.Admission.now(), results: make(chan result, 1)}
	var first time.Time
	if len(q.waiters) > 0 {
		first = q.waiters[0].since
	}
	if err := c.Admission.expect(first, w.since, len(q.waiters) == 0 || c.Shared); err != nil {
		return nil, err
	}
	q.waiters = append(q.waiters, w)
	return w, nil
}

// lead does a request in a batch with the requests that wait after it.
func (c *Coalescer[T]) lead(ctx context.Context, at QueueKey, request T) result {
	defer c.pass(at)
	tenant := at.Tenant
	if c.TenantOf != nil {
		tenant = c.TenantOf(request)
	}
	if err := c.Admission.Acquire(ctx, tenant); err != nil {
		return result{err: err}
	}
	defer c.Admission.Release(tenant)
	others := c.take(at, cmp.Or(c.AtMost, maxBatch)-1)
	if len(others) == 0 {
		return result{err: c.One(ctx, at, request, true)}
	}
	requests := make([]T, 1, 1+len(others))
	requests[0] = request
	for _, w := range others {
		requests = append(requests, w.request)
	}
	ctx, cancel := detached(ctx, batchTimeout)
	defer cancel()
	resultOf := together(c.Many(ctx, at, requests))
	for i, w := range others {
		w.results <- resultOf(i + 1)
	}
	return resultOf(0)
}

// detached returns a context that ends at its parent's deadline or after the limit, but not when its parent is
// canceled.
func detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	until := time.Now().Add(limit)
	if own, bounded := ctx.Deadline(); bounded && own.Before(until) {
		until = own
	}
	return context.WithDeadline(context.WithoutCancel(ctx), until)
}

// together returns a function from the index of a request in a batch to its result.
func together(done []bool, err error) func(i int) result {
	return func(i int) result {
		switch {
		case err != nil && unavailable(err):
			return result{err: err}
		case err != nil || !done[i]:
			return result{exclusively: true}
		}
		return result{}
	}
}

// take removes at most limit waiters from the front of a queue, and returns them. It leaves a share to the leaders that
// end next: a batch that takes all lasts as long as several of them, and its requests wait for all the others in it.
// A share is for half of the leaders, since the others end later.
func (c *Coalescer[T]) take(at QueueKey, limit int) []*waiter[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[at]
	shares := max(1, c.AtOnce/2)
	n := min(limit, (len(q.waiters)+shares-1)/shares)
	taken := slices.Clone(q.waiters[:n])
	q.waiters = slices.Delete(q.waiters, 0, n)
	c.Admission.expected(n)
	return taken
}

// pass passes the lead to the first waiter, if there is one.
func (c *Coalescer[T]) pass(at QueueKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[at]
	if len(q.waiters) > 0 {
		q.waiters[0].results <- result{lead: true}
		q.waiters = slices.Delete(q.waiters, 0, 1)
		c.Admission.expected(1)
		return
	}
	if q.leaders--; q.leaders == 0 {
		delete(c.queues, at)
	}
}

// giveUp ends the wait of a caller whose context ended. If the caller became the leader in the meantime, it passes the
// lead to the next waiter.
func (c *Coalescer[T]) giveUp(ctx context.Context, at QueueKey, w *waiter[T]) error {
	if c.leave(at, w) {
		return waitedFor(ctx, "the requests before it")
	}
	select {
	case r := <-w.results:
		if r.lead {
			c.pass(at)
		} else if !r.exclusively {
			return r.err
		}
		return waitedFor(ctx, "the requests before it")
	default: // a leader has taken it, and sends a result that nobody receives
	}
	return ctx.Err()
}

// leave removes a waiter from a queue. It returns false if the waiter is no longer in the queue.
func (c *Coalescer[T]) leave(at QueueKey, w *waiter[T]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[at]
	if q == nil {
		return false
	}
	i := slices.Index(q.waiters, w)
	if i < 0 {
		return false
	}
	q.waiters = slices.Delete(q.waiters, i, i+1)
	c.Admission.expected(1)
	return true
}
