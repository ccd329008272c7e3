package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestBookedCollectionMovesMoneyOnce(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	made := w.Create(w.Collection("r1", payments.Success, alice))
	if made.CreatedAt.IsZero() || made.CompletedAt == nil || *made.MerchantBalanceAfter != 1985 || *made.SIMBalanceAfter != 4000 {
		t.Fatalf("booked: %+v", made)
	}
	if diff := cmp.Diff(made, w.Get(made.ID)); diff != "" {
		t.Errorf("read back (-made +read):\n%s", diff)
	}
	if got := w.Balance(alice); got != 4000 {
		t.Errorf("the SIM has %d, want 4000", got)
	}
	w.Conserved()
}

func TestForcedSuccessDebitsOnlyASIMThatCanPay(t *testing.T) {
	cases := map[string]struct {
		prepare func(w *fixture)
		left    int64
	}{
		"can pay": {func(w *fixture) { w.Client("alice", alice, 1000) }, 0},
		"poor":    {func(w *fixture) { w.Client("alice", alice, 999) }, 999},
		"blocked": {func(w *fixture) {
			w.Client("alice", alice, 5000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
		}, 5000},
		"another currency": {func(w *fixture) {
			w.Client("alice", alice, 5000, func(c *sandboxes.TestClientConfig) { c.Country = "CI" })
		}, 5000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			c.prepare(w)
			made := w.Create(w.Collection("r1", payments.Success, alice))
			if *made.MerchantBalanceAfter != 1985 {
				t.Errorf("the merchant has %d, want 1985", *made.MerchantBalanceAfter)
			}
			if got := w.Balance(alice); got != c.left {
				t.Errorf("the SIM has %d, want %d", got, c.left)
			}
			w.Conserved()
		})
	}
}

func TestFailedCollectionMovesNothingAndOwesAnEvent(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	for i, status := range payments.Statuses {
		if status == payments.Success || status == payments.Pending {
			continue
		}
		w.Create(w.Collection(fmt.Sprint("r", i), status, alice))
	}
	if got := w.Balance(alice); got != 5000 {
		t.Errorf("the SIM has %d, want 5000", got)
	}
	w.Conserved()
}

func TestReferenceIsTakenOnce(t *testing.T) {
	for _, status := range []payments.Status{payments.Success, payments.Pending} {
		t.Run(string(status), func(t *testing.T) {
			w := newFixture(t)
			w.Client("alice", alice, 100_000)
			const callers = 32
			results := make(chan error, callers)
			for range callers {
				n := w.Collection("the same", status, alice)
				go func() { results <- w.CreateCollection(context.Background(), w.Sandbox.Tenant, n) }()
			}
			made, ids := 0, map[payments.ID]bool{}
			for range callers {
				var taken *ledger.ErrReferenceTaken
				switch err := <-results; {
				case err == nil:
					made++
				case errors.As(err, &taken):
					ids[taken.Transaction.ID] = true
				default:
					t.Fatal(err)
				}
			}
			if made != 1 || len(ids) != 1 {
				t.Fatalf("%d were made, and the others were told of %d", made, len(ids))
			}
			w.Conserved()
		})
	}
}

func TestOutcomeOfAnOldConfigurationIsNotRecorded(t *testing.T) {
	for _, status := range []payments.Status{payments.Success, payments.UnknownMSISDN} {
		t.Run(string(status), func(t *testing.T) {
			w := newFixture(t)
			n := w.Collection("r1", status, alice)
			w.Config.Environments[0].Terms.CommissionBPS = 300
			w.Apply()
			if err := w.CreateCollection(t.Context(), w.Sandbox.Tenant, n); !errors.Is(err, postgres.ErrConfigChanged) {
				t.Fatalf("got %v, want ErrConfigChanged", err)
			}
			w.Conserved()
		})
	}
}

func TestConcurrentCollectionsOfOneFloatAndOneSIM(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 40_000)
	var wg sync.WaitGroup
	for c := range 8 {
		var todo []*ledger.NewCollection
		for i := range 10 {
			todo = append(todo, w.Collection(fmt.Sprint(c, "-", i), payments.Success, alice))
		}
		wg.Go(func() {
			for _, n := range todo {
				if err := w.CreateCollection(context.Background(), w.Sandbox.Tenant, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := w.Balance(alice); got != 0 {
		t.Errorf("the SIM has %d: 40 of the 80 payments should have emptied it", got)
	}
	if got := w.Apply().Balances[payments.RWF]; got != 1000+80*985 {
		t.Errorf("the float has %d, want %d", got, 1000+80*985)
	}
	w.Conserved()
}
