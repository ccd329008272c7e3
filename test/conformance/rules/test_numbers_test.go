package rules

import (
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

// The rules have a table of their own, to judge other implementations too.
func TestRulesKnowEveryTestNumber(t *testing.T) {
	for _, n := range payments.TestNumbers {
		want := [2]string{string(n.CollectionOutcome()), string(n.DisbursementOutcome())}
		if got := outcomesOfTestNumbers[n.Suffix]; got != want {
			t.Errorf("outcomesOfTestNumbers has %s %q, want %q", n.Suffix, got, want)
		}
		if waits := waitingTestNumbers[n.Suffix] != ""; waits != (n.Status == payments.Pending) {
			t.Errorf("waitingTestNumbers has %s: %t", n.Suffix, waits)
		}
	}
	if len(outcomesOfTestNumbers) != len(payments.TestNumbers) {
		t.Errorf("%d test numbers, want %d", len(outcomesOfTestNumbers), len(payments.TestNumbers))
	}
}
