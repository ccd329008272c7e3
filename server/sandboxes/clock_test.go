package sandboxes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// manual gives a sandbox a manual clock.
func manual(start *time.Time) func(*sandboxes.Config) {
	return func(c *sandboxes.Config) { c.Clock = sandboxes.ClockConfig{Mode: sandboxes.ManualClock, Start: start} }
}

// stands fails unless the sandbox's clock stands at a moment.
func (w *fixture) stands(state sandboxes.SandboxState, at time.Time) {
	w.T.Helper()
	if now := w.Now(); !now.Equal(at) {
		w.T.Errorf("it is %s, want %s", now, at)
	}
	if state.Clock.Mode != sandboxes.ManualClock || state.Clock.Now == nil || !state.Clock.Now.Equal(at) {
		w.T.Errorf("the clock is %+v, want %s", state.Clock, at)
	}
	if !w.Sandbox.Clocked || w.Sandbox.ClockMode != sandboxes.ManualClock {
		w.T.Errorf("the api knows of the clock: %t, %s", w.Sandbox.Clocked, w.Sandbox.ClockMode)
	}
}

// waits fails unless the state tells that the start waits for a reset, or does not.
func (w *fixture) waits(want bool) {
	w.T.Helper()
	for range 2 { // it is written, and then read
		if state := w.Apply(); state.Clock.StartWaits != want {
			w.T.Errorf("the clock is %+v", state.Clock)
		}
	}
}

// A clock that becomes a manual one keeps its time, and so its start waits too.
func TestStartOfAClockThatWasReal(t *testing.T) {
	for how, ahead := range map[string]time.Duration{"that showed the present": 0, "that was ahead": time.Hour} {
		t.Run(how, func(t *testing.T) {
			w := newFixture(t)
			if ahead != 0 {
				w.RunAhead(ahead)
			}
			manual(&noon)(&w.Config)
			w.waits(true)
			w.stands(w.reset("1"), noon)
			w.waits(false)
		})
	}
}

func TestManualClockStartsAtCreationAndAtEachReset(t *testing.T) {
	for how, reset := range resets {
		t.Run(how, func(t *testing.T) {
			w := newFixture(t, manual(&noon), func(c *sandboxes.Config) { c.API.Reset = true })
			w.stands(w.Apply(), noon)

			w.Stand(noon.Add(time.Hour))
			w.waits(false)
			w.Config.Clock.Start = new(noon.Add(-time.Hour))
			w.stands(w.Apply(), noon.Add(time.Hour)) // a changed start waits
			w.waits(true)

			former := w.Sandbox.Tenant
			w.stands(reset(w), noon.Add(-time.Hour))
			w.waits(false)
			w.Config.Clock.Start = nil
			w.waits(false)
			w.sweepRetired()
			if n := w.Count("select count(*) from clocks where tenant = $1", former); n != 0 {
				t.Error("the former clock is still there")
			}
		})
	}
}

func TestManualClockWithoutAStartStandsAtThePresent(t *testing.T) {
	w := newFixture(t)
	before := read[time.Time](w, "select now()")
	manual(nil)(&w.Config)
	state := w.reset("1")
	w.stands(state, w.Now())
	if now := w.Now(); now.Before(before) || now.After(read[time.Time](w, "select now()")) {
		t.Errorf("it is %s", now)
	}
}

func TestAResetEndsAnOffset(t *testing.T) {
	for how, reset := range resets {
		t.Run(how, func(t *testing.T) {
			w := newFixture(t, func(c *sandboxes.Config) { c.API.Reset = true })
			w.RunAhead(time.Hour)
			if state := w.Apply(); state.Clock != (sandboxes.ClockState{Mode: sandboxes.RealClock, Ahead: time.Hour}) {
				t.Errorf("the clock is %+v", state.Clock)
			}
			if state := reset(w); state.Clock != (sandboxes.ClockState{Mode: sandboxes.RealClock}) || w.Sandbox.Clocked {
				t.Errorf("the clock is %+v, and there is one: %t", state.Clock, w.Sandbox.Clocked)
			}
		})
	}
}

func TestAChangeOfTheModeKeepsTheTime(t *testing.T) {
	w := newFixture(t)
	w.RunAhead(48 * time.Hour)
	manual(&noon)(&w.Config)
	state := w.Apply()
	w.Reload()
	w.stands(state, w.Now())
	if ahead := read[float64](w, "select extract(epoch from sandbox_time(tenant) - now()) from clocks"); ahead > 48*3600 || ahead < 47*3600 {
		t.Errorf("it is %f seconds ahead", ahead)
	}

	w.Stand(noon)
	w.Config.Clock = sandboxes.ClockConfig{}
	before := read[time.Time](w, "select now()")
	state = w.Apply()
	w.Reload()
	now := read[time.Time](w, "select now()")
	if at := w.Now(); at.Before(noon) || at.Sub(noon) > now.Add(time.Second).Sub(before) {
		t.Errorf("it is %s, and was %s", at, noon)
	}
	want := before.Sub(noon).Round(time.Second)
	if state.Clock.Mode != sandboxes.RealClock || (-state.Clock.Ahead-want).Abs() > now.Sub(before)+time.Second {
		t.Errorf("the clock is %+v, want it to be %s behind", state.Clock, want)
	}
	written := w.Written()
	w.Apply()
	if diff := cmp.Diff(written, w.Written()); diff != "" {
		t.Errorf("it is applied again (-first +second):\n%s", diff)
	}
}

func TestAChangeOfTheModeWaitsForAnAdvance(t *testing.T) {
	w := newFixture(t, manual(&noon))
	w.Exec("update clocks set target = $1", noon.Add(time.Hour))
	w.Config.Clock, w.Config.LatencyPercent = sandboxes.ClockConfig{}, 77
	for range 2 {
		if _, err := w.ApplySandbox(t.Context(), w.Config); !errors.Is(err, sandboxes.ErrClockAdvancing) {
			t.Fatalf("the answer is %v", err)
		}
	}
	w.Reload()
	if now := w.Now(); !now.Equal(noon) || w.Sandbox.ClockMode != sandboxes.ManualClock || w.Sandbox.LatencyPercent != 77 {
		t.Errorf("it is %s, and the sandbox is %+v", now, w.Sandbox)
	}
	w.Exec("update clocks set stands_at = target, target = null")
	if state := w.Apply(); state.Clock.Mode != sandboxes.RealClock {
		t.Errorf("the clock is %+v", state.Clock)
	}
}

func TestARemovedManualClockIsMadeAgain(t *testing.T) {
	w := newFixture(t, manual(&noon))
	w.Exec("delete from clocks")
	w.Apply()
	w.stands(w.Apply(), noon)
}

func TestFaultsThatActedAreTold(t *testing.T) {
	declared := `[{"name": "b", "api": {"status": 500}}, {"name": "a", "webhook": {"drop": true}}, {"name": "never", "webhook": {"drop": true}},
		{"name": "changed", "webhook": {"drop": true}}]`
	w := newFixture(t, func(c *sandboxes.Config) { c.Faults = []byte(declared) })
	set, err := faults.Parse([]byte(declared))
	if err != nil || len(w.Sandbox.Faults) != len(set) {
		t.Fatalf("%v, and the api knows %d of %d", err, len(w.Sandbox.Faults), len(set))
	}
	count := func(name string, digest []byte, acts int) {
		w.Exec("insert into fault_counts (tenant, name, digest, acts, last_at) values ($1, $2, $3, $4, $5)",
			w.Sandbox.Tenant, name, digest, acts, noon)
	}
	count("a", set.Named("a").Digest(), 1)
	count("b", set.Named("b").Digest(), 2)
	count("never", set.Named("never").Digest(), 0)
	count("changed", []byte("another"), 3)
	count("removed", []byte("another"), 4)
	written := w.Written()
	want := []sandboxes.FaultState{{Name: "b", Acts: 2, Acted: &noon}, {Name: "a", Acts: 1, Acted: &noon}}
	if diff := cmp.Diff(want, w.Apply().Faults); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(written, w.Written()); diff != "" {
		t.Errorf("something was written (-before +after):\n%s", diff)
	}
	if state := w.reset("1"); len(state.Faults) != 0 {
		t.Errorf("after a reset: %+v", state.Faults)
	}
}

// What is remembered of references is purged with its tenant.
func TestFaultRowsArePurged(t *testing.T) {
	w := newFixture(t)
	w.Exec("insert into fault_counts (tenant, name, digest) values ($1, 'f', '')", w.Sandbox.Tenant)
	w.Exec("insert into fault_acts (tenant, name, reference) select $1, 'f', n::text from generate_series(1, 5001) n", w.Sandbox.Tenant)
	w.Exec("insert into fault_requests (tenant, reference) select $1, n::text from generate_series(1, 5001) n", w.Sandbox.Tenant)
	store := ledgertest.OpenAs(t, w.URL, ledgertest.Controller)
	if err := store.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"fault_counts", "fault_acts", "fault_requests"} {
		if n := w.Count("select count(*) from " + table); n != 0 {
			t.Errorf("%s has %d rows", table, n)
		}
	}
}
