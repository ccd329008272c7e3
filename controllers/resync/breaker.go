package resync

import (
	"slices"
	"sync"
)

// Breaker is the circuit breaker of the database. [LiveStatus] queries the database all the time and opens the breaker when the
// database is unavailable. While it is open no reconciliation queries the database. The resources that needed it are
// reconciled when the breaker closes.
type Breaker struct {
	mutex   sync.Mutex
	cause   error // nil: the breaker is closed
	blocked []Change
	known   map[Change]bool // those in blocked
}

// NewBreaker returns a closed breaker.
func NewBreaker() *Breaker { return &Breaker{known: map[Change]bool{}} }

// Check returns nil while the breaker is closed. Else it returns the error that opened it, and remembers the resource.
func (b *Breaker) Check(c Change) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.cause != nil && !b.known[c] {
		b.known[c] = true
		b.blocked = append(b.blocked, c)
	}
	return b.cause
}

// open opens the breaker. It reports false if it was open already.
func (b *Breaker) open(cause error) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.cause != nil {
		return false
	}
	b.cause = cause
	return true
}

// close closes the breaker. It returns the resources that were blocked, in that order.
func (b *Breaker) close() []Change {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	blocked := slices.Clone(b.blocked)
	b.cause, b.blocked = nil, nil
	clear(b.known)
	return blocked
}
