package sandboxes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestLedgerStateIsShown(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	shows := func(what string, want sandboxes.LedgerState) {
		t.Helper()
		if diff := cmp.Diff(want, w.Apply().Ledger); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	verify := func() {
		t.Helper()
		w.Exec("update ledger_proofs set pass_due_at = now()")
		if _, err := w.Verify(t.Context(), w.Sandbox.Tenant); err != nil {
			t.Fatal(err)
		}
	}
	shows("a new sandbox", sandboxes.LedgerState{})
	verify()
	shows("verified", sandboxes.LedgerState{Verified: true})
	w.Exec("update floats set balance = balance + 100 where currency = 'RWF'")
	w.Exec("update adjustments set delta = delta + 5 where sim_id is not null")
	verify()
	shows("changed by hand", sandboxes.LedgerState{Verified: true, Broken: 2, Imbalances: []sandboxes.Imbalance{
		{Currency: "RWF", Amount: 100, After: 1}, {TestClient: "alice", Amount: -5, After: 0, Before: 1},
	}})
	w.reset("1")
	shows("after a reset", sandboxes.LedgerState{})
	verify()
	shows("verified after it", sandboxes.LedgerState{Verified: true})
}
