package sandboxes_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// grant takes requests of a limit.
func (w *fixture) grant(limit, wanted int, unused ...sandboxes.Grant) sandboxes.Grant {
	w.T.Helper()
	var left sandboxes.Grant
	if len(unused) > 0 {
		left = unused[0]
	}
	grant, err := w.TakeRequests(w.T.Context(), w.Sandbox.Tenant, limit, wanted, left)
	if err != nil {
		w.T.Fatal(err)
	}
	return grant
}

// later lets time pass for what was granted.
func (w *fixture) later(seconds int) {
	w.T.Helper()
	// In two steps, so that no row steps on another on its way.
	w.Exec("update rate_usage set second = -second where tenant = $1", w.Sandbox.Tenant)
	w.Exec("update rate_usage set second = -second - $2::int where tenant = $1", w.Sandbox.Tenant, seconds)
}

func TestRequestsOfAMinute(t *testing.T) {
	w := newFixture(t)
	begun := time.Now()
	// in reports whether the first leave so many seconds after the begin, as fast as this machine is.
	in := func(reset, seconds time.Duration) bool {
		return reset <= (seconds+2)*time.Second && reset >= (seconds-2)*time.Second-time.Since(begun)
	}
	for i, c := range []struct{ wanted, granted, remaining int }{{1, 1, 9}, {4, 4, 5}, {6, 5, 0}, {1, 0, 0}} {
		got := w.grant(10, c.wanted)
		if got.Requests != c.granted || got.Remaining != c.remaining {
			t.Errorf(
				"%d: of %d wanted, %d were granted and %d remain; want %d and %d",
				i,
				c.wanted,
				got.Requests,
				got.Remaining,
				c.granted,
				c.remaining,
			)
		}
		if !in(got.Reset, 60) {
			t.Errorf("%d: the first leave in %s", i, got.Reset)
		}
	}
	w.later(30)
	if got := w.grant(15, 5); got.Requests != 5 || !in(got.Reset, 30) {
		t.Errorf("half a minute later, of a limit that was raised by 5: %+v", got)
	}
	w.later(33) // the first 10 are gone, the other 5 are not
	if got := w.grant(10, 10); got.Requests != 5 || !in(got.Reset, 28) && !in(got.Reset, 30) {
		t.Errorf("a minute later: %+v", got)
	}
	w.later(70)
	if got := w.grant(10, 10); got.Requests != 10 {
		t.Errorf("after all have gone: %+v", got)
	}
	if rows := w.Count("select count(*) from rate_usage"); rows != 1 {
		t.Errorf("%d seconds are kept", rows)
	}
	if got := w.grant(3, 1); got.Requests != 0 || got.Remaining != 0 {
		t.Errorf("of a limit that was lowered: %+v", got)
	}
}

// A request may be made up to a second after it was granted, and a grant is known by its second only. Until both are surely
// more than a minute ago it counts.
func TestNoMinuteHasMoreThanTheLimit(t *testing.T) {
	w := newFixture(t)
	for age, want := range map[int]int{0: 0, 59: 0, 60: 0, 61: 0, 63: 10} { // not 62: a second may pass in between
		w.Exec("delete from rate_usage")
		w.Exec(
			"insert into rate_usage (tenant, second, granted) values ($1, floor(extract(epoch from clock_timestamp()))::bigint - $2::int, 10)",
			w.Sandbox.Tenant,
			age,
		)
		before := read[int64](w, "select floor(extract(epoch from clock_timestamp()))::bigint")
		got := w.grant(10, 10)
		if now := read[int64](w, "select floor(extract(epoch from clock_timestamp()))::bigint"); age == 61 && now != before {
			continue
		}
		if got.Requests != want {
			t.Errorf("%d s after 10 of 10 were granted, %d are; want %d", age, got.Requests, want)
		}
	}
}

func TestUnusedRequestsGoBack(t *testing.T) {
	w := newFixture(t)
	first := w.grant(10, 6)
	first.Requests = 4 // of which two were used
	if got := w.grant(10, 10, first); got.Requests != 8 || got.Remaining != 0 {
		t.Errorf("of 10, 2 were used and 4 given back: %+v", got)
	}
	if got := w.grant(10, 1); got.Requests != 0 {
		t.Errorf("more than the limit was granted: %+v", got)
	}
	w.later(70)
	old := w.grant(10, 3)
	w.later(70) // its second is not known any more
	if got := w.grant(10, 20, old); got.Requests != 10 {
		t.Errorf("what is given back too late makes no more than the limit: %+v", got)
	}
	if n := w.Count("select count(*) from rate_usage where granted < 0"); n != 0 {
		t.Error("a second has less than nothing")
	}
}

func TestConcurrentRequests(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	var mine, theirs atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		for sandbox, sum := range map[*fixture]*atomic.Int64{w: &mine, other: &theirs} {
			wg.Go(func() {
				for range 8 {
					grant, err := w.TakeRequests(t.Context(), sandbox.Sandbox.Tenant, 100, 7, sandboxes.Grant{})
					if err != nil {
						t.Error(err)
					}
					sum.Add(int64(grant.Requests))
				}
			})
		}
	}
	wg.Wait()
	got := fmt.Sprint(mine.Load(), " ", theirs.Load())
	if diff := cmp.Diff("100 100", got); diff != "" {
		t.Errorf("granted of 100 each (-want +got):\n%s", diff)
	}
}
