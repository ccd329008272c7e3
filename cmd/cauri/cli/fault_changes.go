package cli

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// faultChange is a fault that was set, with what became of it.
type faultChange struct {
	Change string `json:"change"`
	wire.Fault
}

// The values of faultChange.Change.
const (
	faultSet     = "set"
	faultRemoved = "removed"
	faultOver    = "over"   // its time is over
	faultUsedUp  = "usedUp" // it has acted as often as `first` allows
)

// faultChanges finds out how the faults that were set change. The stream has the faults after each change. It has no entry
// about the end of a fault by its time, because each entry says when that is.
type faultChanges struct {
	now func() time.Time

	mutex sync.Mutex
	known []knownFault
	timer *time.Timer // fires at the next end; nil: none ends
	ended bool        // nothing is told any more
}

type knownFault struct {
	wire.Fault
	ends time.Time // by the clock of this machine, at most a second late; zero: when it is removed
}

// same reports whether two states are of one setting.
func (k *knownFault) same(f *wire.Fault) bool {
	return k.Name == f.Name && k.SetAt != nil && f.SetAt != nil && *k.SetAt == *f.SetAt
}

func (k *knownFault) usedUp() bool { return k.TimesLeft != nil && *k.TimesLeft == 0 }

// update returns what has changed since the last call. Ends come first.
func (c *faultChanges) update(list []wire.Fault) (changes []faultChange) {
	now := c.now()
	var next []knownFault
	for i := range list {
		if f := (knownFault{Fault: list[i]}); f.Source == sourceAPI {
			if f.SecondsLeft != nil {
				f.ends = now.Add(time.Duration(*f.SecondsLeft) * time.Second)
			}
			next = append(next, f)
		}
	}
	for _, k := range c.known {
		switch i := slices.IndexFunc(next, func(f knownFault) bool { return k.same(&f.Fault) }); {
		case k.usedUp():
		case i >= 0 && next[i].usedUp():
			changes = append(changes, faultChange{faultUsedUp, next[i].Fault})
		case i >= 0:
		case !k.ends.IsZero() && now.After(k.ends.Add(-time.Second)): // the seconds that are left are rounded up
			changes = append(changes, faultChange{faultOver, k.Fault})
		default:
			changes = append(changes, faultChange{faultRemoved, k.Fault})
		}
	}
	for _, f := range slices.Backward(next) {
		if !slices.ContainsFunc(c.known, func(k knownFault) bool { return k.same(&f.Fault) }) {
			changes = append(changes, faultChange{faultSet, f.Fault})
		}
	}
	c.known = next
	return changes
}

// left returns the time until the next end; 0 if none ends.
func (c *faultChanges) left() (left time.Duration) {
	for _, k := range c.known {
		if until := k.ends.Sub(c.now()); !k.ends.IsZero() && (left == 0 || until < left) {
			left = max(until, time.Millisecond)
		}
	}
	return left
}

func (c *faultChanges) stop() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.ended = true
	if c.timer != nil {
		c.timer.Stop()
	}
}

// readFaults reads the faults of the sandbox, and tells what has changed.
func (s *stream) readFaults(ctx context.Context, tell func(change) error) error {
	if !s.wants(typeFaults) {
		return nil
	}
	found, err := s.api.Faults(ctx)
	if err != nil {
		return err
	}
	return s.tellFaults(ctx, found, tell)
}

// tellFaults tells what has changed in the faults that were set, and reads them again when the next one ends.
func (s *stream) tellFaults(ctx context.Context, list []wire.Fault, tell func(change) error) error {
	c := &s.faults
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.ended {
		return nil
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	for _, one := range c.update(list) {
		if err := tell(change{Entry: sandboxapi.Entry{Type: typeFaults}, Fault: &one}); err != nil {
			return err
		}
	}
	if left := c.left(); left > 0 {
		c.timer = time.AfterFunc(left, func() { s.endFault(ctx, tell) })
	}
	return nil
}

// endFault reads the faults at the end of one.
func (s *stream) endFault(ctx context.Context, tell func(change) error) {
	err := s.readFaults(ctx, tell)
	s.faults.mutex.Lock()
	defer s.faults.mutex.Unlock()
	if err != nil && !s.faults.ended {
		s.faults.timer.Reset(s.retry)
	}
}

// faultLine returns the line about a fault.
func faultLine(f *faultChange) Line {
	text := ""
	switch f.Change {
	case faultSet:
		text = "on, set " + optional(f.SetBy, setBy) + ", ends " + endOfFault(&f.Fault) + ": " + effectOf(&f.Fault)
	case faultRemoved:
		text = "off, removed"
	case faultOver:
		text = "off, its time is over"
	case faultUsedUp:
		text = "off, it has acted " + times(f.Times) + ", as often as it may"
	}
	return Line{whatPart("fault"), {text: f.Name, width: idWidth}, {text: text}}
}

// setBy returns who set a fault.
func setBy(who string) string {
	switch who {
	case "console":
		return "in the console"
	case "cli":
		return "by the command line"
	}
	return "with the API key"
}
