package ledger_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
)

// finishDisturbed takes as many events as there are attempts and writes these down, each disturbed by a fault.
func (w *fixture) finishDisturbed(attempts ...ledger.AttemptResult) {
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

func TestDisturbedAttemptTellsNothingAboutTheEndpoint(t *testing.T) {
	w := newFixture(t)
	w.owe(3)
	w.attempts(turnedAway, turnedAway, exhausted)
	w.Exec("update endpoint_health set failures = 30, failing_since = now() - interval '1 hour'")
	before := w.health()
	w.owe(2)
	w.Exec("update events set due_at = null where attempts > 0")
	w.finishDisturbed(acked, exhausted)
	if diff := cmp.Diff("30 in a row, since long, open, 1 delivered, 2 failed, last: no answer within 10s", w.health()); diff != "" {
		t.Errorf("health, which was %s (-want +got):\n%s", before, diff)
	}
}

func TestFaultsOfAttemptsAreWrittenDown(t *testing.T) {
	w := newFixture(t)
	w.owe(2)
	w.attempts(turnedAway, acked)
	w.Due()
	w.finishDisturbed(acked)
	got := read[[]string](w, "select array_agg(a.attempt || ' ' || coalesce(a.faults::text, '-') order by a.attempt, a.event_id) from delivery_attempts a")
	if want := []string{"1 -", "1 -", "2 {f}"}; !slices.Equal(got, want) {
		t.Errorf("attempts and their faults: %v, want %v", got, want)
	}
}
