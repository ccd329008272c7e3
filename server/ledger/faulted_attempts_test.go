package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// finishFaulted leases as many events as there are attempts and records these, each with a fault.
func (w *fixture) finishFaulted(attempts ...ledger.AttemptResult) {
	w.T.Helper()
	events := w.Lease(ledgertest.Body())
	if len(events) != len(attempts) {
		w.T.Fatalf("%d events were leased for %d attempts", len(events), len(attempts))
	}
	for i := range events {
		events[i].Fault = &faults.Fault{Name: "f"}
		w.Finish(&events[i], attempts[i])
	}
}

func TestAttemptWithAFaultTellsNothingAboutTheEndpoint(t *testing.T) {
	w := newFixture(t)
	w.owe(3)
	w.attempts(turnedAway, turnedAway, exhausted)
	w.Exec("update endpoint_health set failures = 30, failing_since = now() - interval '1 hour'")
	before := w.health()
	w.owe(2)
	w.Exec("update events set due_at = null where attempts > 0")
	w.finishFaulted(acked, exhausted)
	if diff := cmp.Diff("30 in a row, since long, open, 1 delivered, 2 failed, last: no answer within 10s", w.health()); diff != "" {
		t.Errorf("health, which was %s (-want +got):\n%s", before, diff)
	}
}

func TestFaultsOfAttemptsAreWrittenDown(t *testing.T) {
	w := newFixture(t)
	w.owe(2)
	w.attempts(turnedAway, acked)
	w.Due()
	w.finishFaulted(acked)
	got := read[[]string](w, "select array_agg(a.attempt || ' ' || coalesce(a.faults::text, '-') order by a.attempt, a.event_id) from delivery_attempts a")
	if want := []string{"1 -", "1 -", "2 {f}"}; !slices.Equal(got, want) {
		t.Errorf("attempts and their faults: %v, want %v", got, want)
	}
	events, err := w.ListEvents(t.Context(), w.Sandbox.Tenant, ledger.EventFilter{}, nil, 10)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for i := range events {
		detail, err := w.GetEvent(t.Context(), w.Sandbox.Tenant, w.Sandbox.OrganizationID, events[i].ID, ledgertest.Body())
		if err != nil || !slices.Equal(detail.LastFaults, events[i].LastFaults) {
			t.Errorf("an event has the faults %v, and in the list %v: %v", detail.LastFaults, events[i].LastFaults, err)
		}
		named = append(named, events[i].LastFaults...)
	}
	if !slices.Equal(named, []string{"f"}) {
		t.Errorf("the list of events names the faults %v", named)
	}
}

// declare declares faults, as JSON.
func (w *fixture) declare(entries string) {
	w.T.Helper()
	w.Exec("update organizations set faults = $2 where tenant = $1", w.Sandbox.Tenant, entries)
}

// taken leases the due events and describes their faults: reference, fault and number of sendings before.
func (w *fixture) taken() (taken []string) {
	w.T.Helper()
	for _, e := range w.Lease(ledgertest.Body()) {
		name := "-"
		if e.Fault != nil {
			name = e.Fault.Name
		}
		taken = append(taken, fmt.Sprint(e.Transaction.Reference, " ", name, " ", e.Sent))
	}
	slices.Sort(taken)
	return taken
}

func (w *fixture) takes(want ...string) {
	w.T.Helper()
	if diff := cmp.Diff(want, w.taken()); diff != "" {
		w.T.Errorf("taken (-want +got):\n%s", diff)
	}
}

// A worker that dies has used up nothing: the next one goes on with the fault that was decided.
func TestFaultOfAnEventOutlivesItsWorker(t *testing.T) {
	w := newFixture(t)
	w.declare(`[{"name":"bad","when":{"first":1},"webhook":{"badSignature":true}}]`)
	w.Create(w.Collection("a", payments.PINInvalid, alice))
	w.takes("a bad 0")
	w.Due() // its worker died
	w.takes("a bad 0")
	w.Due()
	events := w.Lease(ledgertest.Body())
	w.Finish(&events[0], turnedAway)
	w.Due()
	w.takes("a - 0")
	if got := read[string](w, "select acts || ' ' || (select faults::text from transactions) from fault_counts"); got != "1 {bad}" {
		t.Errorf("acts and faults of the transaction: %s", got)
	}
	if n := w.Count("select count(*) from event_faults"); n != 0 {
		t.Errorf("%d decisions are left", n)
	}
}

func TestDelayedEventIsDueLaterAndHoldsNoLease(t *testing.T) {
	w := newFixture(t)
	w.declare(`[{"name":"late","webhook":{"delay":"1h"}}]`)
	w.Create(w.Collection("a", payments.PINInvalid, alice))
	if wait := w.waits(func() { w.takes() }, time.Hour); wait != "" {
		t.Error(wait)
	}
	if n := w.Count("select count(*) from events where not leased and leased_until is null"); n != 1 {
		t.Error("it is leased while it waits")
	}
	w.Due()
	w.takes("a late 0")
}

func TestEventIsSentAfterTheNextOne(t *testing.T) {
	w := newFixture(t)
	w.declare(`[{"name":"swapped","webhook":{"outOfOrder":true}}]`)
	w.Create(w.Collection("a", payments.PINInvalid, alice))
	if wait := w.waits(func() { w.takes() }, time.Minute); wait != "" {
		t.Error(wait)
	}
	w.Create(w.Collection("b", payments.PINInvalid, alice))
	events := w.Lease(ledgertest.Body())
	if len(events) != 1 || events[0].Transaction.Reference != "b" || events[0].Fault != nil {
		t.Fatalf("taken: %+v", events)
	}
	w.takes()
	w.Finish(&events[0], acked)
	w.takes("a swapped 0")
	w.Create(w.Collection("c", payments.PINInvalid, alice))
	w.takes() // it waits for the one after it
}

func TestEventThatIsLostIsNotTheNextOne(t *testing.T) {
	w := newFixture(t)
	w.declare(`[{"name":"lost","when":{"reference":"b"},"webhook":{"drop":true}}, {"name":"swapped","webhook":{"outOfOrder":true}}]`)
	w.Create(w.Collection("a", payments.PINInvalid, alice))
	w.takes()
	w.Create(w.Collection("b", payments.PINInvalid, alice))
	events := w.Lease(ledgertest.Body())
	if len(events) != 1 || events[0].Fault.Name != "lost" {
		t.Fatalf("taken: %+v", events)
	}
	w.Finish(&events[0], exhausted)
	w.takes()
}

func TestEventThatIsSentByHandIsLeftAlone(t *testing.T) {
	w := newFixture(t)
	w.declare(`[{"name":"lost","webhook":{"drop":true}}]`)
	made := w.Create(w.Collection("a", payments.PINInvalid, alice))
	events := w.Lease(ledgertest.Body())
	w.Finish(&events[0], exhausted)
	if _, err := w.ResendEvent(t.Context(), w.Sandbox.Tenant, made.ID); err != nil {
		t.Fatal(err)
	}
	w.takes("a - 0")
}

func TestEventIsSentAgainInOneAttempt(t *testing.T) {
	w := newFixture(t)
	w.declare(`[{"name":"twice","webhook":{"duplicate":2,"spacing":"30s"}}]`)
	w.Create(w.Collection("a", payments.PINInvalid, alice))
	events := w.Lease(ledgertest.Body())
	if wait := w.waits(func() {
		if held, err := w.SendAgain(t.Context(), &events[0], 30*time.Second); !held || err != nil {
			t.Errorf("sending it again: %t, %v", held, err)
		}
	}, 30*time.Second); wait != "" {
		t.Error(wait)
	}
	if held, err := w.SendAgain(t.Context(), &events[0], 0); held || err != nil {
		t.Errorf("after the lease: %t, %v", held, err)
	}
	w.Due()
	w.takes("a twice 1")
	if n := w.Count("select attempts from events"); n != 0 {
		t.Errorf("%d attempts were written down", n)
	}
}

func TestFaultThatIsTakenBackHasNoEffect(t *testing.T) {
	w := newFixture(t)
	w.declare(`[{"name":"late","webhook":{"delay":"1h"}}]`)
	w.Create(w.Collection("a", payments.PINInvalid, alice))
	w.takes()
	w.declare(`[{"name":"other","when":{"type":"refund"},"webhook":{"drop":true}}]`)
	w.Due()
	w.takes("a - 0")
}

// The status of the resource follows what a fault did.
func TestAFaultOfAnEventIsActivity(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.Faults = []byte(`[{"name": "lost", "webhook": {"drop": true}}]`) })
	w.Create(w.Collection("r1", payments.Success, alice))
	flush := func() {
		t.Helper()
		if err := w.FlushActivity(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	flush()
	w.Exec("delete from activity")
	w.Lease(ledgertest.Body())
	flush()
	if n := w.Count("select count(*) from activity"); n != 1 {
		t.Errorf("%d sandboxes were active, want 1", n)
	}
}

func TestDelayIsInTheTimeOfTheSandbox(t *testing.T) {
	w := newFixture(t)
	w.Stand(noon)
	w.Reload()
	w.declare(`[{"name":"late","when":{"until":"2031-03-31T12:00:01Z"},"webhook":{"delay":"1h","duplicate":2,"spacing":"5m"}}]`)
	w.Create(w.Collection("a", payments.PINInvalid, alice))
	w.takes()
	if due := read[time.Time](w, "select due_at from events"); due.Sub(noon.Add(time.Hour)).Abs() > time.Second {
		t.Errorf("it is due at %s", due)
	}
	w.takes() // however late it is elsewhere
	later := noon.Add(time.Hour + time.Second)
	w.Stand(later)
	events := w.Lease(ledgertest.Body())
	if len(events) != 1 || events[0].Fault == nil {
		t.Fatalf("an hour later these are taken: %+v", events)
	}
	if held, err := w.SendAgain(t.Context(), &events[0], 5*time.Minute); !held || err != nil {
		t.Errorf("sending it again: %t, %v", held, err)
	}
	if due := read[time.Time](w, "select due_at from events"); due.Sub(later.Add(5*time.Minute)).Abs() > time.Second {
		t.Errorf("it is due again at %s", due)
	}
}
