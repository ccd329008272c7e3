package resync

import (
	"slices"
	"sync"
)

// Breaker is the circuit breaker of the database. [LiveStatus] polls the database, and opens the breaker when the
// database is unavailable. While the breaker is open, no reconciliation queries the database. When it closes, the
// resources that called [Breaker.Check] are reconciled.
type Breaker struct {
	mutex   sync.Mutex
	cause   error // nil: the breaker is closed
	blocked []Change
	known   map[Change]bool // the elements of blocked
}

// NewBreaker returns a closed breaker.
func NewBreaker() *Breaker { return &Breaker{known: map[Change]bool{}} }

// Check returns nil while the breaker is closed. While it is open, Check returns the error that opened it, and
// remembers the resource.
func (b *Breaker) Check(c Change) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.cause != nil && !b.known[c] {
		b.known[c] = true
		b.blocked = append(b.blocked, c)
	}
	return b.cause
}

// open opens the breaker. It returns false if the breaker was already open.
func (b *Breaker) open(cause error) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.cause != nil {
		return false
	}
	b.cause = cause
	return true
}

// close closes the breaker. It returns the blocked resources in the order in which they called Check.
func (b *Breaker) close() []Change {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	blocked := slices.Clone(b.blocked)
	b.cause, b.blocked = nil, nil
	clear(b.known)
	return blocked
}
