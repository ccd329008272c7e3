package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const testNumber = "+250790000901"

// pendingTestNumber makes a pending collection from a test number that is due after a while.
func (w *fixture) pendingTestNumber(reference string, does payments.Behavior, after time.Duration) *payments.Transaction {
	w.T.Helper()
	n := w.Collection(reference, "", testNumber)
	n.ByPayer, n.TestBehavior = &ledger.StatusByPayer{}, does
	for state := range n.ByPayer {
		latency := ledger.Latency{Simulated: 20 * time.Second, Waited: after}
		n.ByPayer[state] = ledger.StatusAndLatency{Status: payments.Pending, Latency: latency}
	}
	return w.Create(n)
}

// A pending collection from a test number has no SIM. It is settled by what the number does, as it was when the collection was made, and
// it is never forwarded, although the store names an operator's API.
func TestSettlementOfTestNumbers(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) {
		c.Environments[0].UnknownPolicy, c.TestNumbers = payments.Passthrough, payments.StandardTestNumbers
		c.Operators = []sandboxes.OperatorAccess{{Store: "shop", Operator: payments.MTN, Country: payments.Rwanda, BaseURL: "http://127.0.0.1:1"}}
	})
	want := map[string]payments.Status{}
	made := map[string]*payments.Transaction{}
	for does, status := range map[payments.Behavior]payments.Status{
		payments.Approve: payments.Success, payments.Cancel: payments.UserCancelled, payments.WrongPIN: payments.PINInvalid,
		payments.Ignore: payments.Pending,
	} {
		made[string(does)], want[string(does)] = w.pendingTestNumber(string(does), does, 0), status
	}
	made["not due"], want["not due"] = w.pendingTestNumber("not due", payments.Approve, time.Hour-time.Second), payments.Pending
	w.Client("late", testNumber, 5000, behaves(payments.Cancel)) // takes over later payments only
	w.Config.TestNumbers = payments.NoTestNumbers
	w.Apply()
	if forwards := w.forwards(time.Hour); len(forwards) != 0 {
		t.Errorf("%d collections are forwarded", len(forwards))
	}
	if diff := cmp.Diff(ledger.BatchCounts{Claimed: 4, Parked: 1}, w.Settle()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	check := func() {
		t.Helper()
		got := map[string]payments.Status{}
		for name, transaction := range made {
			now := w.Get(transaction.ID)
			got[name] = now.Status
			if now.SIMBalanceAfter != nil || (now.MerchantBalanceAfter != nil) != (now.Status == payments.Success) {
				t.Errorf("%s: balances after it: %v, %v", name, now.MerchantBalanceAfter, now.SIMBalanceAfter)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
		w.Conserved()
	}
	check()
	w.Exec("update transactions set due_at = due_at - interval '1 hour', expires_at = expires_at - interval '1 hour' where status = 'PENDING'")
	if counts := w.Settle(); counts.Claimed != 2 {
		t.Errorf("%d were claimed an hour later", counts.Claimed)
	}
	want["Ignore"], want["not due"] = payments.Timeout, payments.Success
	check()
	if got := w.Balance(testNumber); got != 5000 {
		t.Errorf("the SIM that has the number now has %d", got)
	}
	if prompts, err := w.ListPrompts(t.Context(), w.Sandbox.Tenant, testNumber, nil, 10); err != nil || len(prompts) != 0 {
		t.Errorf("the SIM that has the number now has the prompts %v (%v)", prompts, err)
	}
}

// A test number that a SIM has at the moment of the insert is the SIM's.
func TestTheRegistryWinsOverTestNumbers(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", testNumber, 5000, behaves(payments.Cancel))
	made := w.pendingTestNumber("r1", payments.Approve, 0)
	if n := read[int](w, "select count(*) from transactions where test_behavior is null and sim_id is not null"); n != 1 {
		t.Error("the collection is not the SIM's")
	}
	w.Settle()
	if got := w.Get(made.ID); got.Status != payments.UserCancelled {
		t.Errorf("it ended %s", got.Status)
	}
	w.Conserved()
}

// Payments of test numbers and of SIMs share a float within one batch, up to its limit.
func TestTestNumbersShareTheFloat(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.OpeningFloat[payments.RWF] = payments.MaxBalance - 2*985 })
	w.Client("alice", alice, 5000)
	for _, reference := range []string{"r1", "r2"} {
		w.Pending(reference, alice)
		w.pendingTestNumber(reference+" test", payments.Approve, 0)
	}
	w.Settle()
	if n := read[int](w, "select count(*) from transactions where status = 'SUCCESS'"); n != 2 {
		t.Errorf("%d succeeded, want 2", n)
	}
	if n := read[int](w, "select count(*) from transactions where status = 'LIMIT_EXCEEDED'"); n != 2 {
		t.Errorf("%d exceeded the limit of the float, want 2", n)
	}
	w.Conserved()
}
