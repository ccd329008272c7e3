package worker

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/store"
)

const (
	// slow is how long an attempt may take before whoever it waits for counts as slow.
	slow = time.Second
	// suspect is the same for who has never answered this worker.
	suspect = 250 * time.Millisecond
	// firstWindow is how many attempts at one time a sandbox begins with; each quick answer adds one.
	firstWindow = 16
	// slowWindow is how many one has that did not answer; each answer adds one, so that one which is slow and answers keeps up.
	slowWindow = 2
	// forgotten is how long a lane that has nothing due is remembered.
	forgotten = 10 * time.Minute
)

// pace is what a worker knows about how soon a lane's attempts end.
type pace int

const (
	untried pace = iota
	quick
	sluggish // the last attempt was slow, or no answer came, or attempts are out for long
	paces    // how many there are
)

// lanes shares a worker's slots between the sandboxes that have something due: in turn, and to each no more than keeps room for
// the others. Slots that wait for somebody slow are lost to all for as long as that lasts, so slow lanes have half of all slots
// together, those that do not answer only a few each, and lanes that nothing is known of yet have a quarter. What answers quickly
// shares the rest.
type lanes struct {
	slots, most int // in all, and of one lane
	now         func() time.Time
	freed       chan struct{} // tells that a slot may have become free

	mu    sync.Mutex
	of    map[int64]*lane
	busy  map[int64]*lane // those with running attempts
	due   []*lane         // those that may have more due
	turn  int64
	swept time.Time
}

// lane is what a worker knows of one sandbox.
type lane struct {
	store.Lane
	pace    pace
	window  int       // attempts at one time
	running int       // slots taken
	writing int       // of these, attempts that have ended and are being written down
	stalled int       // of these, attempts that have been out for long
	served  int64     // when its turn was last
	rests   time.Time // nothing is taken before
	seen    time.Time
}

func newLanes(slots, most int, now func() time.Time) *lanes {
	return &lanes{
		slots: slots, most: min(most, slots), now: now, freed: make(chan struct{}, 1),
		of: map[int64]*lane{}, busy: map[int64]*lane{},
	}
}

// surveyed takes the lanes that have something due, in place of those that had.
func (l *lanes) surveyed(found []store.Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.due = l.due[:0]
	for _, one := range found {
		known := l.lane(one)
		known.Lane, known.seen = one, now
		l.due = append(l.due, known)
	}
	l.forget(now)
}

// lane finds a lane, or begins one with what other workers know about it.
func (l *lanes) lane(found store.Lane) *lane {
	if known := l.of[found.Tenant]; known != nil {
		return known
	}
	one := &lane{window: firstWindow}
	switch {
	case found.Failing:
		one.pace, one.window = sluggish, slowWindow
	case found.Answered:
		one.pace = quick
	}
	l.of[found.Tenant] = one
	return one
}

func (l *lanes) forget(now time.Time) {
	if now.Sub(l.swept) < forgotten/10 {
		return
	}
	l.swept = now
	maps.DeleteFunc(l.of, func(_ int64, one *lane) bool { return one.running == 0 && now.Sub(one.seen) > forgotten })
}

// waiting reports whether there is a lane that may have more due.
func (l *lanes) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.due) > 0
}

// shares takes free slots for lanes that have something due, one each in turn, the lane first whose turn is longest ago.
func (l *lanes) shares() []store.Share {
	l.mu.Lock()
	defer l.mu.Unlock()
	room := l.room()
	now := l.now()
	var candidates []*lane
	for _, one := range l.due {
		if !one.rests.After(now) {
			candidates = append(candidates, one)
		}
	}
	slices.SortStableFunc(candidates, func(a, b *lane) int { return cmp.Compare(a.served, b.served) })
	granted := map[*lane]int{}
	var order []*lane
	for len(candidates) > 0 {
		candidates = slices.DeleteFunc(candidates, func(one *lane) bool {
			if one.running-one.writing >= l.limit(one) || one.running >= 2*l.most || !room.take(one.state()) {
				return true
			}
			one.running++
			if granted[one]++; granted[one] == 1 {
				order = append(order, one)
			}
			return false
		})
	}
	shares := make([]store.Share, len(order))
	for i, one := range order {
		l.turn++
		one.served = l.turn
		l.busy[one.Tenant] = one
		shares[i] = store.Share{Lane: one.Lane, Slots: granted[one]}
	}
	return shares
}

// state is a lane's pace with what is known of the attempts that are out.
func (one *lane) state() pace {
	if one.stalled > 0 {
		return sluggish
	}
	return one.pace
}

func (l *lanes) limit(one *lane) int {
	switch {
	case one.Probe:
		return 1
	case one.stalled > 0 && one.pace != sluggish: // it begins to hang, or to be slow
		return min(slowWindow, l.most)
	}
	return min(one.window, l.most)
}

// room is how many slots are free: in all, for untried and for sluggish lanes, and for both of these together.
type room struct {
	all, notQuick int
	of            [paces]int
}

func (l *lanes) room() room {
	r := room{all: l.slots, notQuick: max(1, l.slots*3/4)}
	r.of[untried], r.of[sluggish], r.of[quick] = max(1, l.slots/4), max(1, l.slots/2), l.slots
	for _, one := range l.busy {
		r.all -= one.running
		r.of[one.state()] -= one.running
		if one.state() != quick {
			r.notQuick -= one.running
		}
	}
	return r
}

func (r *room) take(p pace) bool {
	if r.all <= 0 || r.of[p] <= 0 || p != quick && r.notQuick <= 0 {
		return false
	}
	r.all--
	r.of[p]--
	if p != quick {
		r.notQuick--
	}
	return true
}

// took tells what came of shares: how many rows were found in each lane, and how many of them were taken. A lane in which less
// was found than it had slots has no more for now.
func (l *lanes) took(shares []store.Share, found, taken map[int64]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	exhausted := map[int64]bool{}
	for _, s := range shares {
		l.release(s.Tenant, s.Slots-taken[s.Tenant])
		exhausted[s.Tenant] = found[s.Tenant] < s.Slots || s.Probe
	}
	l.due = slices.DeleteFunc(l.due, func(one *lane) bool { return exhausted[one.Tenant] })
}

// begins tells that an attempt of a lane is made. The function that it returns tells how that ended. The slot stays taken until
// that is written down, see ends, but the lane may have another then.
func (l *lanes) begins(tenant int64) (ended func(verdict)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.of[tenant]
	patience := slow
	if one.pace == untried {
		patience = suspect
	}
	var stalled, over bool
	timer := time.AfterFunc(patience, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if stalled = !over; stalled {
			one.stalled++
			l.wake() // lanes that are not tried yet may have room now
		}
	})
	return func(v verdict) {
		timer.Stop()
		l.mu.Lock()
		defer l.mu.Unlock()
		over = true
		one.writing++
		if stalled {
			one.stalled--
		}
		l.judge(one, v)
		l.wake()
	}
}

// verdict is how an attempt ended, as far as others' turns depend on it.
type verdict int

const (
	answered   verdict = iota // soon, be it with a refusal
	late                      // with an answer that took long
	silent                    // without an answer
	impossible                // before it was begun: there is no use in the lane's other rows for a while
)

func verdictOn(answer bool, took time.Duration) verdict {
	switch {
	case !answer:
		return silent
	case took > slow:
		return late
	}
	return answered
}

func (l *lanes) judge(one *lane, v verdict) {
	switch v {
	case impossible:
		one.rests = l.now().Add(lease)
	case silent:
		one.pace, one.window = sluggish, slowWindow
	case late:
		if one.pace != sluggish {
			one.pace, one.window = sluggish, slowWindow
		}
		one.window = min(one.window+1, l.most)
	case answered:
		one.pace, one.window = quick, min(one.window+1, l.most)
	}
}

// ends gives the slot of an attempt back, once it is written down.
func (l *lanes) ends(tenant int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[tenant].writing--
	l.release(tenant, 1)
	l.wake()
}

// drops gives a slot back that nothing was begun with.
func (l *lanes) drops(tenant int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(tenant, 1)
}

func (l *lanes) release(tenant int64, n int) {
	one := l.of[tenant]
	if one.running -= n; one.running == 0 {
		delete(l.busy, tenant)
	}
}

func (l *lanes) wake() {
	select {
	case l.freed <- struct{}{}:
	default:
	}
}
