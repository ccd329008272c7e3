package worker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/store"
)

// clock stands still until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func testLanes(slots, most int) (*lanes, *clock) {
	c := &clock{at: time.Unix(1_780_228_800, 0)}
	return newLanes(slots, most, c.now), c
}

// due surveys lanes of these tenants, known to other workers as given by f.
func due(l *lanes, f func(*store.Lane), tenants ...int64) {
	var found []store.Lane
	for _, tenant := range tenants {
		lane := store.Lane{Tenant: tenant}
		if f != nil {
			f(&lane)
		}
		found = append(found, lane)
	}
	l.surveyed(found)
}

func healthy(l *store.Lane) { l.Answered = true }
func failing(l *store.Lane) { l.Failing = true }
func probed(l *store.Lane)  { l.Failing, l.Probe = true, true }

// slots are the slots that the lanes got, by tenant.
func slots(shares []store.Share) map[int64]int {
	got := map[int64]int{}
	for _, s := range shares {
		got[s.Tenant] += s.Slots
	}
	return got
}

func tenants(from, to int64) (all []int64) {
	for tenant := from; tenant <= to; tenant++ {
		all = append(all, tenant)
	}
	return all
}

func sum(got map[int64]int) (n int) {
	for _, of := range got {
		n += of
	}
	return n
}

func TestSharesOfLanes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lanes func(l *lanes)
		want  map[int64]int
	}{
		"a healthy one":          {func(l *lanes) { due(l, healthy, 1) }, map[int64]int{1: firstWindow}},
		"a failing one":          {func(l *lanes) { due(l, failing, 1) }, map[int64]int{1: slowWindow}},
		"one that is probed":     {func(l *lanes) { due(l, probed, 1) }, map[int64]int{1: 1}},
		"one that is not known":  {func(l *lanes) { due(l, nil, 1) }, map[int64]int{1: firstWindow}},
		"three healthy ones":     {func(l *lanes) { due(l, healthy, 1, 2, 3) }, map[int64]int{1: 16, 2: 16, 3: 16}},
		"more than there is for": {func(l *lanes) { due(l, healthy, 1, 2, 3, 4, 5) }, map[int64]int{1: 13, 2: 13, 3: 13, 4: 13, 5: 12}},
		"two that nobody knows":  {func(l *lanes) { due(l, nil, 1, 2) }, map[int64]int{1: 8, 2: 8}}, // a quarter together
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := testLanes(64, 32)
			c.lanes(l)
			if diff := cmp.Diff(c.want, slots(l.shares())); diff != "" {
				t.Errorf("slots (-want +got):\n%s", diff)
			}
		})
	}
}

// However many are slow, half of the slots stay free of them; and with those that nobody knows, a quarter.
func TestSlowLanesLeaveRoom(t *testing.T) {
	t.Parallel()
	l, _ := testLanes(64, 32)
	due(l, failing, tenants(1, 500)...)
	if got := sum(slots(l.shares())); got != 32 {
		t.Errorf("slow lanes have %d of 64 slots", got)
	}
	due(l, nil, tenants(1001, 1500)...)
	if got := sum(slots(l.shares())); got != 16 {
		t.Errorf("unknown lanes have %d of 64 slots beside the slow ones", got)
	}
	due(l, healthy, 2000)
	if got := sum(slots(l.shares())); got != 16 {
		t.Errorf("a healthy lane has %d slots beside them", got)
	}
	if got := l.shares(); len(got) != 0 {
		t.Errorf("more than all slots are taken: %v", got)
	}
}

// Unknown lanes that turn out to hang are slow ones then. A quarter of the slots stays with those that answer.
func TestUnknownLanesThatHangLeaveRoom(t *testing.T) {
	t.Parallel()
	l, _ := testLanes(64, 32)
	due(l, failing, tenants(1, 500)...)
	l.shares()
	due(l, nil, tenants(1001, 1500)...)
	for _, share := range l.shares() {
		l.of[share.Tenant].stalled = share.Slots
	}
	due(l, nil, tenants(2001, 2500)...)
	if got := l.shares(); len(got) != 0 {
		t.Errorf("more unknown lanes got slots: %v", got)
	}
	due(l, healthy, 3000)
	if got := sum(slots(l.shares())); got != 16 {
		t.Errorf("a healthy lane has %d slots", got)
	}
}

// Whoever's turn is longest ago is first, so that one whose backlog takes every slot that is freed delays nobody.
func TestTurns(t *testing.T) {
	t.Parallel()
	l, _ := testLanes(16, 16)
	due(l, healthy, 1)
	if got := slots(l.shares()); got[1] != 16 {
		t.Fatalf("got %v", got)
	}
	due(l, healthy, 1, 2)
	for range 3 {
		l.begins(1)(answered)
		l.ends(1)
	}
	if diff := cmp.Diff(map[int64]int{2: 2, 1: 1}, slots(l.shares())); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	l.ends(1)
	due(l, healthy, 1, 2, 3)
	if diff := cmp.Diff(map[int64]int{3: 1}, slots(l.shares())); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
}

func TestPaceOfALane(t *testing.T) {
	t.Parallel()
	l, _ := testLanes(64, 20)
	limit := func() int { return l.limit(l.of[1]) }
	due(l, nil, 1)
	shares := l.shares()
	for i := range 10 {
		l.begins(1)(answered)
		if want := min(20, firstWindow+i+1); limit() != want {
			t.Errorf("after %d quick answers its limit is %d, want %d", i+1, limit(), want)
		}
	}
	for i := range 3 {
		l.begins(1)(late)
		if want := slowWindow + i + 1; limit() != want || l.of[1].state() != sluggish {
			t.Errorf("after %d late answers its limit is %d, want %d, and its state %d", i+1, limit(), want, l.of[1].state())
		}
	}
	l.begins(1)(silent)
	if limit() != slowWindow || l.of[1].state() != sluggish {
		t.Errorf("after no answer its limit is %d, its state %d", limit(), l.of[1].state())
	}
	l.begins(1)(answered)
	if limit() != slowWindow+1 || l.of[1].state() != quick {
		t.Errorf("after the next quick one its limit is %d, its state %d", limit(), l.of[1].state())
	}
	l.took(shares, map[int64]int{1: 3}, map[int64]int{1: 3})
	if got := l.of[1].running; got != 3 {
		t.Errorf("%d slots are taken for 3 rows", got)
	}
	if l.waiting() {
		t.Error("a lane that had less than its share is asked again before the next survey")
	}
}

// An attempt that is out for long makes its lane slow before it ends, and for as long as it is out.
func TestLaneThatHangs(t *testing.T) {
	t.Parallel()
	l, _ := testLanes(64, 32)
	due(l, nil, 1)
	l.shares()
	ended := l.begins(1)
	<-l.freed // which tells that it was out for long
	l.mu.Lock()
	state := l.of[1].state()
	l.mu.Unlock()
	if state != sluggish {
		t.Fatalf("its state is %d while it hangs", state)
	}
	l.begins(1)(answered)
	if got := l.of[1].state(); got != sluggish {
		t.Errorf("its state is %d after another attempt was answered", got)
	}
	ended(answered)
	if got := l.of[1].state(); got != quick {
		t.Errorf("its state is %d after both were", got)
	}
}

// A lane in which nothing can be begun rests, so that its rows are not taken one after the other for nothing.
func TestLaneThatRests(t *testing.T) {
	t.Parallel()
	l, clock := testLanes(64, 32)
	due(l, healthy, 1)
	l.shares()
	l.begins(1)(impossible)
	l.ends(1)
	if got := l.shares(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	clock.at = clock.at.Add(lease)
	if got := slots(l.shares()); got[1] == 0 {
		t.Error("it rests for ever")
	}
}

func TestLanesAreForgotten(t *testing.T) {
	t.Parallel()
	l, clock := testLanes(64, 32)
	due(l, healthy, tenants(1, 100)...)
	l.took(l.shares(), nil, nil)
	l.mu.Lock()
	l.of[1].running, l.busy[1] = 1, l.of[1]
	l.mu.Unlock()
	clock.at = clock.at.Add(forgotten + time.Second)
	due(l, healthy, 2)
	if len(l.of) != 2 || l.of[1] == nil || l.of[2] == nil {
		t.Errorf("%d lanes are remembered, want the one that is due and the one that is busy", len(l.of))
	}
}

// Whoever answers, be it slowly, keeps up with what it is sent: it gets more attempts at one time, within what slow lanes have.
func TestSlowLaneThatAnswersKeepsUp(t *testing.T) {
	t.Parallel()
	l, _ := testLanes(64, 20)
	due(l, failing, 1)
	for range 30 {
		due(l, failing, 1)
		l.shares()
		l.begins(1)(late)
		l.ends(1)
	}
	l.shares()
	if got := l.of[1].running; got != 20 {
		t.Errorf("it has %d attempts at one time, want all 20 that a lane may have", got)
	}
	due(l, failing, tenants(2, 50)...)
	l.shares()
	due(l, healthy, 1001, 1002)
	if got := sum(slots(l.shares())); got != 32 {
		t.Errorf("%d of 64 slots are left for lanes that answer quickly", got)
	}
}
