package resync

import (
	"context"
	"sync"
)

// changeQueue is a queue of resources to reconcile, each at most once, in order of arrival.
type changeQueue struct {
	mutex  sync.Mutex
	held   map[Change]struct{} // changes for the next release, so that many changes of a sandbox are released once
	queued map[Change]struct{}
	order  []Change
	filled chan struct{} // has an element if order may have one
}

func newChangeQueue() *changeQueue {
	return &changeQueue{
		held:   make(map[Change]struct{}),
		queued: make(map[Change]struct{}),
		filled: make(chan struct{}, 1),
	}
}

// hold keeps a change for the next call of release.
func (q *changeQueue) hold(c Change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.held[c] = struct{}{}
}

// append queues changes at the end.
func (q *changeQueue) append(changes []Change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, c := range changes {
		q.push(c)
	}
}

// prefer queues changes before all others.
func (q *changeQueue) prefer(changes []Change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	behind := q.order
	q.order = nil
	clear(q.queued)
	for _, c := range append(changes, behind...) {
		q.push(c)
	}
}

// release queues the held changes.
func (q *changeQueue) release() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for c := range q.held {
		q.push(c)
	}
	clear(q.held)
}

// push adds a change at the end, unless it is already in the queue. The caller holds the mutex.
func (q *changeQueue) push(c Change) {
	if _, there := q.queued[c]; there {
		return
	}
	q.queued[c] = struct{}{}
	q.order = append(q.order, c)
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// next removes and returns the first change. It blocks while the queue is empty. If ctx ends, it returns the error of
// ctx.
func (q *changeQueue) next(ctx context.Context) (Change, error) {
	for {
		if c, ok := q.pop(); ok {
			return c, nil
		}
		select {
		case <-q.filled:
		case <-ctx.Done():
			return Change{}, ctx.Err()
		}
	}
}

func (q *changeQueue) pop() (Change, bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if len(q.order) == 0 {
		q.order = nil // frees the array, which has the length of the longest queue
		return Change{}, false
	}
	c := q.order[0]
	q.order = q.order[1:]
	delete(q.queued, c)
	return c, true
}
