package resync

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	testclock "k8s.io/utils/clock/testing"
)

// writes is a queue with its clock.
type writes struct {
	*testing.T
	*writeQueue
	clock *testclock.FakeClock
}

func newWrites(t *testing.T) *writes {
	clock := testclock.NewFakeClock(time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC))
	return &writes{T: t, writeQueue: newWriteQueue(clock, 4), clock: clock}
}

func named(name string) Change { return Change{Key: client.ObjectKey{Name: name}} }

// happens reports that something happened in resources.
func (w *writes) happens(names ...string) {
	var changes []Change
	for _, name := range names {
		changes = append(changes, named(name))
	}
	w.add(changes)
}

// write writes what the budget allows now, and returns the names in order.
func (w *writes) write() (names []string) {
	for {
		c, _, ok := w.grant()
		if !ok {
			return names
		}
		if !w.admit(c, Live) {
			w.Errorf("%s may not be written, although it is its turn", c.Key.Name)
		}
		names = append(names, c.Key.Name)
	}
}

// empty takes all tokens.
func (w *writes) empty() {
	for w.budget.allow(w.clock.Now()) {
	}
}

func (w *writes) want(what string, got []string, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestBurstAndRefill(t *testing.T) {
	w := newWrites(t)
	var names []string
	for n := range 60 {
		names = append(names, fmt.Sprintf("s%02d", n))
	}
	w.happens(names...)
	w.want("at once", w.write(), names[:50]...)
	w.want("the bucket is empty", w.write())
	w.clock.Step(time.Second)
	w.want("after a second", w.write(), names[50:54]...)
	w.clock.Step(time.Hour)
	w.want("after an hour", w.write(), names[54:]...)
}

func TestOldestWriteComesFirst(t *testing.T) {
	w := newWrites(t)
	w.happens("a", "b", "c")
	for range 3 { // a write each second
		w.grantTo()
		w.clock.Step(time.Second)
	}
	w.happens("c", "a", "b")
	w.want("in the order of the last writes", w.write(), "a", "b", "c")
}

// grantTo writes one resource.
func (w *writes) grantTo() {
	if c, _, ok := w.grant(); ok {
		w.admit(c, Live)
	}
}

func TestQuietResourcesComeFirst(t *testing.T) {
	w := newWrites(t)
	w.happens("busy1", "busy2", "quiet")
	w.want("the beginning", w.write(), "busy1", "busy2", "quiet")
	for range 20 {
		w.clock.Step(time.Second)
		w.empty()
		w.happens("busy1", "busy2")
	}
	w.happens("quiet")
	w.clock.Step(time.Second)
	w.want("after 20 s", w.write(), "quiet", "busy1", "busy2")

	for range 3 * int(headStart/time.Second) { // busy1 waits, while another one is written and quiet again and again
		w.empty()
		w.clock.Step(time.Second)
		w.happens("busy1")
	}
	w.admit(named("quiet"), Other)
	w.empty()
	w.clock.Step(quietAfter)
	w.happens("quiet")
	w.want("no head start is endless", w.write(), "busy1", "quiet")
}

func TestConditionsDoNotWait(t *testing.T) {
	w := newWrites(t)
	w.empty()
	w.happens("a")
	if w.admit(named("a"), Live) || w.admit(named("b"), Live) {
		t.Error("a balance was written beyond the budget")
	}
	for range 5 {
		if !w.admit(named("a"), Other) {
			t.Error("a condition waits")
		}
	}
	w.clock.Step(time.Second)
	w.want("conditions are paid for by balances", w.write())
	w.clock.Step(time.Second)
	w.want("b was not written yet", w.write(), "b", "a")
}

func TestConditionsThatFlapAreWrittenTwiceAMinute(t *testing.T) {
	w := newWrites(t)
	w.empty()
	if !w.admit(named("a"), Delivery) {
		t.Error("the first change waits")
	}
	w.clock.Step(flapping - time.Second)
	w.empty()
	if w.admit(named("a"), Delivery) {
		t.Error("the second change within the time does not wait")
	}
	w.clock.Step(time.Second)
	if w.empty(); !w.admit(named("a"), Delivery) {
		t.Error("it still waits after the time")
	}
}

func TestATokenThatIsNotNeededIsPutBack(t *testing.T) {
	w := newWrites(t)
	w.empty()
	w.clock.Step(time.Second / 4)
	w.happens("a", "b")
	c, _, ok := w.grant()
	if !ok || w.admit(c, None) {
		t.Errorf("%v, %v: nothing differs, and it is written", c, ok)
	}
	w.want("the other one gets the token", w.write(), "b")
}

func TestConditionsOfThoseThatWaitAreChecked(t *testing.T) {
	w := newWrites(t)
	w.empty()
	w.happens("a")
	w.add([]Change{{Key: client.ObjectKey{Name: "sim"}, IsTestClient: true}})
	if got := w.unchecked(); len(got) > 0 {
		t.Errorf("%v was just queued", got)
	}
	w.clock.Step(checkAfter)
	if diff := cmp.Diff([]Change{named("a")}, w.unchecked()); diff != "" {
		t.Error(diff)
	}
	if got := w.unchecked(); len(got) > 0 {
		t.Errorf("%v was just checked", got)
	}
}

func TestWaitingForTheBudget(t *testing.T) {
	w := newWrites(t)
	w.empty()
	got := make(chan Change)
	go func() {
		for range 2 {
			c, _ := w.next(t.Context())
			got <- c
		}
	}()
	w.happens("a", "b")
	for _, want := range []string{"a", "b"} {
		select {
		case c := <-got:
			t.Errorf("%v came before there was a token", c)
		case <-time.After(10 * time.Millisecond):
		}
		for !w.clock.HasWaiters() {
			time.Sleep(time.Millisecond)
		}
		w.clock.Step(time.Second/4 + time.Millisecond)
		if c := <-got; c != named(want) {
			t.Errorf("got %v, not %s", c, want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := w.next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of an empty queue is %v", err)
	}
}

func TestResourcesAreForgotten(t *testing.T) {
	w := newWrites(t)
	w.happens("a", "b")
	w.write()
	w.clock.Step(forgetAfter + time.Second)
	w.happens("b")
	if len(w.resources) != 1 {
		t.Errorf("%d resources are remembered", len(w.resources))
	}
}
