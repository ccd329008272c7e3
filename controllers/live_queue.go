package controllers

import (
	"context"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cauri-dev/cauri/server/store"
)

// change names a resource whose status is behind.
type change struct {
	key          client.ObjectKey
	isTestClient bool // else it is a sandbox
}

// changeQueue holds each changed resource once, in the order in which they changed first.
type changeQueue struct {
	mutex  sync.Mutex
	held   map[change]struct{} // until the next round, so that a sandbox with many changes is released once a round
	queued map[change]struct{}
	order  []change
	filled chan struct{} // has an element while order may have one
}

func newChangeQueue() *changeQueue {
	return &changeQueue{
		held:   make(map[change]struct{}),
		queued: make(map[change]struct{}),
		filled: make(chan struct{}, 1),
	}
}

// hold keeps a change for the next round.
func (q *changeQueue) hold(c change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.held[c] = struct{}{}
}

// add queues what a round brought.
func (q *changeQueue) add(accounts []store.AccountChange) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, account := range accounts {
		q.push(changeOf(account))
	}
}

// append queues changes at the end.
func (q *changeQueue) append(changes []change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, c := range changes {
		q.push(c)
	}
}

// prefer queues changes before all others.
func (q *changeQueue) prefer(changes []change) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	behind := q.order
	q.order = nil
	clear(q.queued)
	for _, c := range append(changes, behind...) {
		q.push(c)
	}
}

// release queues what was held.
func (q *changeQueue) release() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for c := range q.held {
		q.push(c)
	}
	clear(q.held)
}

// push puts a change at the end, unless it is in the queue already. The caller holds the mutex.
func (q *changeQueue) push(c change) {
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

// next takes the change that has waited longest, and waits for one if there is none. It returns the context's error.
func (q *changeQueue) next(ctx context.Context) (change, error) {
	for {
		if c, ok := q.pop(); ok {
			return c, nil
		}
		select {
		case <-q.filled:
		case <-ctx.Done():
			return change{}, ctx.Err()
		}
	}
}

func (q *changeQueue) pop() (change, bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if len(q.order) == 0 {
		q.order = nil // the array behind it is as long as the longest queue was
		return change{}, false
	}
	c := q.order[0]
	q.order = q.order[1:]
	delete(q.queued, c)
	return c, true
}
