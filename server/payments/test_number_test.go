package payments_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

// testNumberRow is everything that a test number does.
type testNumberRow struct {
	answer, settled, disbursed payments.Status
	latencyMs                  int64 // 0: drawn
}

// TestEveryTestNumber checks each test number against a table, from the answer to a payment to its settlement. Nothing that the number's
// sandbox says of unknown numbers matters.
func TestEveryTestNumber(t *testing.T) {
	t.Parallel()
	want := map[string]testNumberRow{
		"901": {payments.Pending, payments.Success, payments.Success, 0},
		"902": {payments.InsufficientFunds, payments.InsufficientFunds, payments.Success, 0},
		"903": {payments.Pending, payments.PINInvalid, payments.Success, 0},
		"904": {payments.Pending, payments.UserCancelled, payments.Success, 0},
		"905": {payments.Pending, payments.Timeout, payments.Success, 0},
		"906": {payments.AccountBlocked, payments.AccountBlocked, payments.AccountBlocked, 0},
		"907": {payments.LimitExceeded, payments.LimitExceeded, payments.Success, 0},
		"908": {payments.ServiceUnavailable, payments.ServiceUnavailable, payments.Success, 0},
		"909": {payments.Pending, payments.Success, payments.Success, 20_000},
		"910": {payments.Pending, payments.Success, payments.Success, 0},
		"911": {payments.Pending, payments.Success, payments.Success, 0},
		"912": {payments.Pending, payments.Success, payments.Success, 0},
	}
	for _, policy := range []payments.UnknownPolicy{payments.Reject, payments.Passthrough} {
		got := map[string]testNumberRow{}
		for _, n := range payments.TestNumbers {
			row := testNumberRow{
				answer:    payments.CollectionFacts{Amount: 900, CustomerTotal: 900, Policy: policy, TestNumber: &n}.Outcome(),
				disbursed: payments.DisbursementFacts{Policy: policy, TestNumber: &n}.Outcome(), latencyMs: n.Latency.Milliseconds(),
			}
			row.settled = row.answer
			if row.answer == payments.Pending {
				due := payments.SettlementFacts{CustomerTotal: 900, TestBehavior: n.Behavior}
				if row.settled = due.Outcome(); row.settled == payments.Pending {
					due.Expired = true
					row.settled = due.Outcome()
				}
			}
			got[n.Suffix] = row
			if n.CollectionOutcome() != row.settled || n.DisbursementOutcome() != row.disbursed {
				t.Errorf("%s says %s and %s, and is %+v", n.Suffix, n.CollectionOutcome(), n.DisbursementOutcome(), row)
			}
			if (n.Behavior != "") != (n.Status == payments.Pending) {
				t.Errorf("%s is answered %s and behaves as %q", n.Suffix, n.Status, n.Behavior)
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(testNumberRow{})); diff != "" {
			t.Errorf("the test numbers with policy %s (-want +got):\n%s", policy, diff)
		}
	}
}

// TestWhatComesBeforeATestNumber checks each fact that wins over a test number, for each of them.
func TestWhatComesBeforeATestNumber(t *testing.T) {
	t.Parallel()
	limit := int64(800)
	for _, n := range payments.TestNumbers {
		facts := payments.CollectionFacts{Amount: 900, CustomerTotal: 900, Policy: payments.Passthrough, TestNumber: &n}
		if got := facts.Outcomes(); got != [payments.PayerStates]payments.Status{
			n.Status, payments.AccountBlocked, payments.InsufficientFunds, payments.Pending,
		} {
			t.Errorf("%s: by the state of the payer's SIM the outcomes are %v", n.Suffix, got)
		}
		facts.MaxAmount = &limit
		if got := facts.Outcome(); got != payments.LimitExceeded {
			t.Errorf("%s: a payment beyond the limit is answered %s", n.Suffix, got)
		}
		for _, s := range payments.Scenarios {
			facts.Scenario = s
			want, _ := s.Status()
			if got := facts.Outcome(); got != want {
				t.Errorf("%s: a payment with the scenario %s is answered %s", n.Suffix, s, got)
			}
		}
		for _, sim := range []*payments.SIM{{}, {Blocked: true}} {
			disbursed := payments.DisbursementFacts{Recipient: sim, TestNumber: &n}
			if got, want := disbursed.Outcome(), (payments.DisbursementFacts{Recipient: sim}).Outcome(); got != want {
				t.Errorf("%s: a disbursement to a SIM with the number is %s, want %s", n.Suffix, got, want)
			}
		}
		for _, due := range []payments.SettlementFacts{
			{Expired: true, TestBehavior: n.Behavior}, {FloatFull: true, TestBehavior: payments.Approve},
		} {
			want := map[bool]payments.Status{true: payments.Timeout, false: payments.LimitExceeded}[due.Expired]
			if got := due.Outcome(); got != want {
				t.Errorf("%s: %+v is %s, want %s", n.Suffix, due, got, want)
			}
		}
	}
}

func TestATestNumberElsewhereIsUnknown(t *testing.T) {
	t.Parallel()
	for _, policy := range []payments.UnknownPolicy{payments.Reject, payments.Passthrough} {
		collected := payments.CollectionFacts{Policy: policy, TestNumber: payments.TestNumberElsewhere}.Outcome()
		disbursed := payments.DisbursementFacts{Policy: policy, TestNumber: payments.TestNumberElsewhere}.Outcome()
		if collected != payments.UnknownMSISDN || disbursed != payments.UnknownMSISDN {
			t.Errorf("with policy %s the outcomes are %s and %s", policy, collected, disbursed)
		}
	}
}
