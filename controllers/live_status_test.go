package controllers_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// TestLiveBalances changes balances as a payment does and finds them in the status.
func TestLiveBalances(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox, alice := c.newSandbox(), c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(alice)
	c.sandboxReady(sandbox)
	c.testClientReady(alice)

	c.row("update sims set balance = 0, changed_at = now() returning 1", nil, new(int))
	c.row("update floats set balance = 1500, changed_at = now() returning 1", nil, new(int))
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		c.refresh(alice)
		return cmp.Diff([]v1alpha1.Balance{{Currency: "RWF", Amount: 1500}}, sandbox.Status.Balances) +
			cmp.Diff(new(int64(0)), alice.Status.Balance)
	})
	if alice.Spec.Balance != 500 {
		t.Error("the opening balance was changed")
	}
}

// TestLiveBalancesAfterTheDatabaseWasUnavailable misses nothing that changed meanwhile.
func TestLiveBalancesAfterTheDatabaseWasUnavailable(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)

	c.database.setUnavailable(true)
	rounds := c.database.count("ChangedAccounts")
	c.row("update floats set balance = 1500, changed_at = now() returning 1", nil, new(int))
	c.until(func(context.Context) string {
		if c.database.count("ChangedAccounts") < rounds+2 {
			return "the database was not asked"
		}
		return ""
	})
	c.database.setUnavailable(false)
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		return cmp.Diff([]v1alpha1.Balance{{Currency: "RWF", Amount: 1500}}, sandbox.Status.Balances)
	})
}
