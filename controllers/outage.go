package controllers

import (
	"slices"
	"sync"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// outage knows whether the database is away, as whoever asks it all the time finds. While it is, nobody else asks: what would is
// held up, and looked at again when the outage is over.
type outage struct {
	mutex  sync.Mutex
	cause  error // nil: the database is there
	parked []change
	known  map[change]bool // those parked
}

func newOutage() *outage { return &outage{known: map[change]bool{}} }

// holdUp returns a waiting error while the database is away, and remembers for whom.
func (o *outage) holdUp(c change) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.cause == nil {
		return nil
	}
	if !o.known[c] {
		o.known[c] = true
		o.parked = append(o.parked, c)
	}
	return &waitingError{reason: v1alpha1.ReasonDatabaseUnavailable, message: databaseAway(o.cause), cause: o.cause, woken: true}
}

// begin remembers an outage, with its cause, and reports whether it was not known yet.
func (o *outage) begin(cause error) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.cause != nil {
		return false
	}
	o.cause = cause
	return true
}

// end returns those that were held up, in that order.
func (o *outage) end() []change {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	parked := slices.Clone(o.parked)
	o.cause, o.parked = nil, nil
	clear(o.known)
	return parked
}
