package ledger_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/postgres"
)

// actsAt is the name of the fault that acts on a request with a reference, empty for none.
func (w *fixture) actsAt(s faults.Set, reference string) string {
	w.T.Helper()
	p := &faults.Target{Kind: faults.AtRequest, Reference: reference, Now: noon, Draws: faults.DrawsOf(new(int64(7)), w.Sandbox.Tenant)}
	f, err := w.ActFault(w.T.Context(), w.Sandbox.Tenant, p, s.Matching(p))
	if err != nil {
		w.T.Fatal(err)
	}
	if f == nil {
		return ""
	}
	return f.Name
}

func apiFaults(t *testing.T, entries string) faults.Set {
	t.Helper()
	s, err := faults.Parse([]byte(entries))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFaultActsOnceForEachReferenceAndThenTheNext(t *testing.T) {
	w := newFixture(t)
	s := apiFaults(t, `[{"name":"lost","api":{"dropConnection":"AfterCommit"}}, {"name":"late","when":{"reference":"a"},"api":{"delay":"1s"}}]`)
	for i, want := range []string{"lost", "late", ""} {
		if got := w.actsAt(s, "a"); got != want {
			t.Errorf("request %d: %q acts, want %q", i+1, got, want)
		}
	}
	if got := w.actsAt(s, "b"); got != "lost" {
		t.Errorf("for another reference %q acts", got)
	}
	if got := []string{w.actsAt(s, ""), w.actsAt(s, "")}; got[0] != "lost" || got[1] != "lost" {
		t.Errorf("without a reference %q act", got)
	}
	if n := w.Count("select acts from fault_counts where name = 'lost'"); n != 4 {
		t.Errorf("it acted %d times by its count, want 4", n)
	}
	if at := read[time.Time](w, "select last_at from fault_counts where name = 'late'"); !at.Equal(noon) {
		t.Errorf("it acted at %s by its count", at)
	}
}

func TestFirstCountsActsAndBeginsAnewWithItsEntry(t *testing.T) {
	w := newFixture(t)
	const entry = `[{"name":"lost","when":{"first":%d,"every":true},"api":{"status":503}}]`
	two := apiFaults(t, fmt.Sprintf(entry, 2))
	for i, want := range []string{"lost", "lost", ""} {
		if got := w.actsAt(two, "a"); got != want {
			t.Errorf("request %d: %q acts, want %q", i+1, got, want)
		}
	}
	if got := w.actsAt(apiFaults(t, fmt.Sprintf(entry, 1)), "a"); got != "lost" {
		t.Errorf("after its entry changed %q acts", got)
	}
	if n := w.Count("select acts from fault_counts"); n != 1 {
		t.Errorf("it acted %d times since its entry changed, by its count", n)
	}
}

// However many requests come at one time, on however many replicas.
func TestFirstHoldsForRequestsAtOneTime(t *testing.T) {
	w := newFixture(t)
	s := apiFaults(t, `[{"name":"b","when":{"first":3},"api":{"status":503}}, {"name":"a","when":{"first":4},"api":{"status":503}}]`)
	var acts atomic.Int32
	var requests sync.WaitGroup
	for i := range 16 {
		requests.Go(func() {
			if w.actsAt(s, fmt.Sprint("r", i)) != "" {
				acts.Add(1)
			}
		})
	}
	requests.Wait()
	if acts.Load() != 7 {
		t.Errorf("%d acts, want 7", acts.Load())
	}
}

func TestPercentWithoutAReferenceIsCounted(t *testing.T) {
	w := newFixture(t)
	s := apiFaults(t, `[{"name":"some","when":{"path":"*","percent":50},"api":{"status":503}}]`)
	p := &faults.Target{Kind: faults.AtRequest, Path: "/v1/balances", Reads: true, Now: noon, Draws: faults.DrawsOf(new(int64(7)), 1)}
	for n := range int64(20) {
		f, err := w.ActFault(t.Context(), w.Sandbox.Tenant, p, s.Matching(p))
		if err != nil || (f != nil) != s[0].DrawnAs(n, p.Draws) {
			t.Errorf("target %d: acts: %t, want %t (%v)", n, f != nil, s[0].DrawnAs(n, p.Draws), err)
		}
	}
	if n := w.Count("select draws from fault_counts"); n != 20 {
		t.Errorf("%d draws were counted", n)
	}
}

func TestResetForgetsWhatActed(t *testing.T) {
	w := newFixture(t)
	s := apiFaults(t, `[{"name":"lost","when":{"first":1},"api":{"status":503}}]`)
	if got := w.actsAt(s, "a"); got != "lost" {
		t.Fatalf("%q acts", got)
	}
	former := w.Sandbox.Tenant
	w.Config.Reset = "again"
	w.Apply()
	p := &faults.Target{Kind: faults.AtRequest, Reference: "a", Now: noon}
	if _, err := w.ActFault(t.Context(), former, p, s.Matching(p)); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("a request to the former sandbox: %v", err)
	}
	w.Reload()
	if got := w.actsAt(s, "a"); got != "lost" {
		t.Errorf("after the reset %q acts", got)
	}
}

func TestRequestsWithAReferenceAreCounted(t *testing.T) {
	w := newFixture(t)
	for i, reference := range []string{"a", "b", "a", "a"} {
		want := []int{1, 1, 2, 3}[i]
		if got, err := w.CountFaultRequest(t.Context(), w.Sandbox.Tenant, reference); got != want || err != nil {
			t.Errorf("request %d with %s: %d came, %v", i+1, reference, got, err)
		}
	}
}
