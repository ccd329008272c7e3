package worker

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger/queues"
)

// clock stands still until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func testQueue(slots, most int) (*fairQueue, *clock) {
	c := &clock{at: time.Unix(1_780_228_800, 0)}
	return newFairQueue(slots, most, c.now), c
}

// due lists these tenants as due, known to other workers as given by f.
func due(q *fairQueue, f func(*queues.DueTenant), tenants ...int64) {
	var found []queues.DueTenant
	for _, tenant := range tenants {
		due := queues.DueTenant{Tenant: tenant}
		if f != nil {
			f(&due)
		}
		found = append(found, due)
	}
	q.setDue(found)
}

func healthy(l *queues.DueTenant) { l.EndpointWorked = true }
func failing(l *queues.DueTenant) { l.EndpointFailing = true }
func probed(l *queues.DueTenant)  { l.EndpointFailing, l.Probe = true, true }

// slots are the slots that the tenants got, by tenant.
func slots(grants []queues.SlotGrant) map[int64]int {
	got := map[int64]int{}
	for _, s := range grants {
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

func TestSharesOfTenants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup func(q *fairQueue)
		want  map[int64]int
	}{
		"a healthy one":          {func(q *fairQueue) { due(q, healthy, 1) }, map[int64]int{1: initialLimit}},
		"a failing one":          {func(q *fairQueue) { due(q, failing, 1) }, map[int64]int{1: slowLimit}},
		"one that is probed":     {func(q *fairQueue) { due(q, probed, 1) }, map[int64]int{1: 1}},
		"one that is not known":  {func(q *fairQueue) { due(q, nil, 1) }, map[int64]int{1: initialLimit}},
		"three healthy ones":     {func(q *fairQueue) { due(q, healthy, 1, 2, 3) }, map[int64]int{1: 16, 2: 16, 3: 16}},
		"more than there is for": {func(q *fairQueue) { due(q, healthy, 1, 2, 3, 4, 5) }, map[int64]int{1: 13, 2: 13, 3: 13, 4: 13, 5: 12}},
		"two that nobody knows":  {func(q *fairQueue) { due(q, nil, 1, 2) }, map[int64]int{1: 8, 2: 8}}, // a quarter together
	} {
		t.Run(name, func(t *testing.T) {
			q, _ := testQueue(64, 32)
			c.setup(q)
			if diff := cmp.Diff(c.want, slots(q.grantSlots())); diff != "" {
				t.Errorf("slots (-want +got):\n%s", diff)
			}
		})
	}
}

// However many are slow, half of the slots stay free of them; and with those that nobody knows, a quarter.
func TestSlowTenantsLeaveRoom(t *testing.T) {
	t.Parallel()
	q, _ := testQueue(64, 32)
	due(q, failing, tenants(1, 500)...)
	if got := sum(slots(q.grantSlots())); got != 32 {
		t.Errorf("slow tenants have %d of 64 slots", got)
	}
	due(q, nil, tenants(1001, 1500)...)
	if got := sum(slots(q.grantSlots())); got != 16 {
		t.Errorf("unknown tenants have %d of 64 slots beside the slow ones", got)
	}
	due(q, healthy, 2000)
	if got := sum(slots(q.grantSlots())); got != 16 {
		t.Errorf("a healthy tenant has %d slots beside them", got)
	}
	if got := q.grantSlots(); len(got) != 0 {
		t.Errorf("more than all slots are taken: %v", got)
	}
}

// Unknown tenants that turn out to hang are slow ones then. A quarter of the slots stays with those that answer.
func TestUnknownTenantsThatHangLeaveRoom(t *testing.T) {
	t.Parallel()
	q, _ := testQueue(64, 32)
	due(q, failing, tenants(1, 500)...)
	q.grantSlots()
	due(q, nil, tenants(1001, 1500)...)
	for _, grant := range q.grantSlots() {
		q.tenants[grant.Tenant].overdue = grant.Slots
	}
	due(q, nil, tenants(2001, 2500)...)
	if got := q.grantSlots(); len(got) != 0 {
		t.Errorf("more unknown tenants got slots: %v", got)
	}
	due(q, healthy, 3000)
	if got := sum(slots(q.grantSlots())); got != 16 {
		t.Errorf("a healthy tenant has %d slots", got)
	}
}

// Whoever's turn is longest ago is first, so that one whose queue takes every slot that is freed delays nobody.
func TestTurns(t *testing.T) {
	t.Parallel()
	q, _ := testQueue(16, 16)
	due(q, healthy, 1)
	if got := slots(q.grantSlots()); got[1] != 16 {
		t.Fatalf("got %v", got)
	}
	due(q, healthy, 1, 2)
	for range 3 {
		q.started(1)(answeredSoon)
		q.recorded(1)
	}
	if diff := cmp.Diff(map[int64]int{2: 2, 1: 1}, slots(q.grantSlots())); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	q.recorded(1)
	due(q, healthy, 1, 2, 3)
	if diff := cmp.Diff(map[int64]int{3: 1}, slots(q.grantSlots())); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
}

// Who asks for slots gets them in turn with the tenants that are due, and none once it stopped waiting.
func TestAsking(t *testing.T) {
	t.Parallel()
	q, _ := testQueue(4, 4)
	due(q, healthy, 1)
	granted := make(chan queues.SlotGrant)
	go func() { granted <- q.ask(t.Context(), queues.DueTenant{Tenant: 2, EndpointWorked: true}) }()
	<-q.freed
	if diff := cmp.Diff(map[int64]int{1: 2}, slots(q.grantSlots())); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	grant := <-granted
	if grant.Tenant != 2 || grant.Slots != 2 {
		t.Errorf("who asked got %+v", grant)
	}
	q.leased([]queues.SlotGrant{grant}, map[int64]int{2: 1}, map[int64]int{2: 1})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if grant := q.ask(gone, queues.DueTenant{Tenant: 3, EndpointWorked: true}); grant.Slots != 0 {
		t.Errorf("who is gone got %+v", grant)
	}
	if diff := cmp.Diff(map[int64]int{1: 1}, slots(q.grantSlots())); diff != "" {
		t.Errorf("slots of what was given back (-want +got):\n%s", diff)
	}
}

func TestConcurrencyLimit(t *testing.T) {
	t.Parallel()
	q, _ := testQueue(64, 20)
	limit := func() int { return q.limitOf(q.tenants[1]) }
	due(q, nil, 1)
	grants := q.grantSlots()
	for i := range 10 {
		q.started(1)(answeredSoon)
		if want := min(20, initialLimit+i+1); limit() != want {
			t.Errorf("after %d quick answers its limit is %d, want %d", i+1, limit(), want)
		}
	}
	for i := range 3 {
		q.started(1)(answeredLate)
		if want := slowLimit + i + 1; limit() != want || q.tenants[1].currentSpeed() != slow {
			t.Errorf("after %d late answers its limit is %d, want %d, and its state %d", i+1, limit(), want, q.tenants[1].currentSpeed())
		}
	}
	q.started(1)(notAnswered)
	if limit() != slowLimit || q.tenants[1].currentSpeed() != slow {
		t.Errorf("after no answer its limit is %d, its state %d", limit(), q.tenants[1].currentSpeed())
	}
	q.started(1)(answeredSoon)
	if limit() != slowLimit+1 || q.tenants[1].currentSpeed() != quick {
		t.Errorf("after the next quick one its limit is %d, its state %d", limit(), q.tenants[1].currentSpeed())
	}
	q.leased(grants, map[int64]int{1: 3}, map[int64]int{1: 3})
	if got := q.tenants[1].running; got != 3 {
		t.Errorf("%d slots are taken for 3 rows", got)
	}
	if q.waiting() {
		t.Error("a tenant that had less than its grant is asked again before the next poll")
	}
}

// An attempt that is out for long makes its tenant slow before it ends, and for as long as it is out.
func TestTenantThatHangs(t *testing.T) {
	t.Parallel()
	q, _ := testQueue(64, 32)
	due(q, nil, 1)
	q.grantSlots()
	ended := q.started(1)
	<-q.freed // which tells that it was out for long
	q.mu.Lock()
	state := q.tenants[1].currentSpeed()
	q.mu.Unlock()
	if state != slow {
		t.Fatalf("its state is %d while it hangs", state)
	}
	q.started(1)(answeredSoon)
	if got := q.tenants[1].currentSpeed(); got != slow {
		t.Errorf("its state is %d after another attempt was answered", got)
	}
	ended(answeredSoon)
	if got := q.tenants[1].currentSpeed(); got != quick {
		t.Errorf("its state is %d after both were", got)
	}
}

// A tenant in which nothing can be begun rests, so that its rows are not taken one after the other for nothing.
func TestTenantThatCannotBeSentTo(t *testing.T) {
	t.Parallel()
	q, clock := testQueue(64, 32)
	due(q, healthy, 1)
	q.grantSlots()
	q.started(1)(notSent)
	q.recorded(1)
	if got := q.grantSlots(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	clock.at = clock.at.Add(lease)
	if got := slots(q.grantSlots()); got[1] == 0 {
		t.Error("it rests for ever")
	}
}

func TestTenantsAreForgotten(t *testing.T) {
	t.Parallel()
	q, clock := testQueue(64, 32)
	due(q, healthy, tenants(1, 100)...)
	q.leased(q.grantSlots(), nil, nil)
	q.mu.Lock()
	q.tenants[1].running, q.busy[1] = 1, q.tenants[1]
	q.mu.Unlock()
	clock.at = clock.at.Add(forgetAfter + time.Second)
	due(q, healthy, 2)
	if len(q.tenants) != 2 || q.tenants[1] == nil || q.tenants[2] == nil {
		t.Errorf("%d tenants are remembered, want the one that is due and the one that is busy", len(q.tenants))
	}
}

// Whoever answers, be it slowly, keeps up with what it is sent: it gets more attempts at one time, within what slow tenants have.
func TestSlowTenantThatAnswersKeepsUp(t *testing.T) {
	t.Parallel()
	q, _ := testQueue(64, 20)
	due(q, failing, 1)
	for range 30 {
		due(q, failing, 1)
		q.grantSlots()
		q.started(1)(answeredLate)
		q.recorded(1)
	}
	q.grantSlots()
	if got := q.tenants[1].running; got != 20 {
		t.Errorf("it has %d attempts at one time, want all 20 that a tenant may have", got)
	}
	due(q, failing, tenants(2, 50)...)
	q.grantSlots()
	due(q, healthy, 1001, 1002)
	if got := sum(slots(q.grantSlots())); got != 32 {
		t.Errorf("%d of 64 slots are left for tenants that answer quickly", got)
	}
}
