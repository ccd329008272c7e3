package worker

import (
	"context"
	"time"
)

const (
	// quickChecks bounds the checks of receivers that send at the same time and have not been slow yet.
	quickChecks = 8
	// slowChecks bounds those that have been slow. They take turns, a line each.
	slowChecks = 4
	// heldChecks bounds the checks that a worker runs, with those that wait for their turn.
	heldChecks = 256
	// slowCheck is the time after which a check counts as slow. A receiver that answers needs less for the whole battery.
	slowCheck = 5 * time.Second
)

// checkSlots are the slots of the checks of receivers that a worker runs. They are no slots of deliveries. A check that is
// slow gives its slot to one that begins, so that slow receivers do not delay the checks of others.
type checkSlots struct{ held, quick, slow chan struct{} }

func newCheckSlots() *checkSlots {
	return &checkSlots{make(chan struct{}, heldChecks), make(chan struct{}, quickChecks), make(chan struct{}, slowChecks)}
}

// begin waits for a slot of a check that begins; false: ctx has ended.
func (s *checkSlots) begin(ctx context.Context, now func() time.Time) (*checkTurn, bool) {
	if !take(ctx, s.held) {
		return nil, false
	}
	if !take(ctx, s.quick) {
		<-s.held
		return nil, false
	}
	return &checkTurn{slots: s, slot: s.quick, now: now, began: now()}, true
}

// take puts a message into a channel; false: ctx has ended before.
func take(ctx context.Context, slots chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case slots <- struct{}{}:
		return true
	}
}

// checkTurn is the slot of a check.
type checkTurn struct {
	slots *checkSlots
	slot  chan struct{} // nil: the check waits for one
	now   func() time.Time
	began time.Time
}

// next ends the turn of a check that is slow, and waits for the next one. Meanwhile it calls renew, which extends the lease
// of the check. It returns the error of renew, and the error of ctx if that ends.
func (t *checkTurn) next(ctx context.Context, renew func(context.Context) error) error {
	if t.slot == t.slots.quick && t.now().Sub(t.began) < slowCheck {
		return nil
	}
	<-t.slot
	t.slot = nil
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for sleep(ctx, checkLease/3); ctx.Err() == nil; sleep(ctx, checkLease/3) {
			if err := renew(ctx); err != nil {
				cancel(err)
			}
		}
	}()
	if !take(ctx, t.slots.slow) {
		return context.Cause(ctx)
	}
	t.slot = t.slots.slow
	return nil
}

// end gives all slots of a check back.
func (t *checkTurn) end() {
	if t.slot != nil {
		<-t.slot
	}
	<-t.slots.held
}
