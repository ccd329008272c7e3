package controllers

import (
	"slices"
	"sync"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/store"
)

// outage knows whether the database is away, as whoever asks it all the time finds. While it is, nobody else asks: what would is
// held up, and looked at again when the outage is over.
type outage struct {
	mutex  sync.Mutex
	on     bool
	parked []change
	known  map[change]bool // those parked
}

func newOutage() *outage { return &outage{known: map[change]bool{}} }

// holdUp returns a waiting error while the database is away, and remembers for whom.
func (o *outage) holdUp(c change) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if !o.on {
		return nil
	}
	if !o.known[c] {
		o.known[c] = true
		o.parked = append(o.parked, c)
	}
	return &waitingError{reason: v1alpha1.ReasonDatabaseUnavailable, message: databaseAway, cause: store.ErrUnavailable, woken: true}
}

// begin reports whether the outage was not known yet.
func (o *outage) begin() bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	was := o.on
	o.on = true
	return !was
}

// end returns those that were held up, in that order.
func (o *outage) end() []change {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	parked := slices.Clone(o.parked)
	o.on, o.parked = false, nil
	clear(o.known)
	return parked
}
