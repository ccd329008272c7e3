package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func behaves(b payments.Behavior) func(*sandboxes.TestClientConfig) {
	return func(c *sandboxes.TestClientConfig) { c.Behavior = b }
}

func blocked(c *sandboxes.TestClientConfig) { c.Blocked = true }

func TestSettlementFollowsThePayerAsItIsThen(t *testing.T) {
	type change = func(*sandboxes.TestClientConfig)
	cases := map[string]struct {
		made   change // nil: the number was not in the registry
		then   change // nil: it is gone
		status payments.Status
		left   int64 // of 1000
	}{
		"approves":              {behaves(payments.Approve), behaves(payments.Approve), payments.Success, 0},
		"cancels":               {behaves(payments.Cancel), behaves(payments.Cancel), payments.UserCancelled, 1000},
		"types a wrong PIN":     {behaves(payments.WrongPIN), behaves(payments.WrongPIN), payments.PINInvalid, 1000},
		"ignores":               {behaves(payments.Ignore), behaves(payments.Ignore), payments.Pending, 1000},
		"waits for a hand":      {behaves(payments.Manual), behaves(payments.Manual), payments.Pending, 1000},
		"was edited to approve": {behaves(payments.Ignore), behaves(payments.Approve), payments.Success, 0},
		"was edited to cancel":  {behaves(payments.Approve), behaves(payments.Cancel), payments.UserCancelled, 1000},
		"blocked by then":       {behaves(payments.Approve), blocked, payments.AccountBlocked, 1000},
		"blocked by then, would ignore": {
			behaves(payments.Ignore),
			func(c *sandboxes.TestClientConfig) { c.Blocked, c.Behavior = true, payments.Ignore },
			payments.AccountBlocked,
			1000,
		},
		"unblocked by then": {blocked, behaves(payments.Approve), payments.Success, 0},
		"poor by then": {
			behaves(payments.Approve),
			func(c *sandboxes.TestClientConfig) { c.Balance = 999 },
			payments.InsufficientFunds,
			999,
		},
		"poor by then, would cancel": {
			behaves(payments.Cancel),
			func(c *sandboxes.TestClientConfig) { c.Balance, c.Behavior = 999, payments.Cancel },
			payments.UserCancelled,
			999,
		},
		"rich by then": {func(c *sandboxes.TestClientConfig) { c.Balance = 0 }, behaves(payments.Approve), payments.Success, 0},
		"gone by then": {behaves(payments.Approve), nil, payments.UnknownMSISDN, -1},
		"of another currency by then": {
			behaves(payments.Approve),
			func(c *sandboxes.TestClientConfig) { c.Country = payments.Benin },
			payments.UnknownMSISDN,
			1000,
		},
		"another SIM by then": {
			behaves(payments.Approve),
			func(c *sandboxes.TestClientConfig) { c.UID = "99999999-9999-9999-9999-999999999999" },
			payments.UnknownMSISDN,
			1000,
		},
	}
	w := newFixture(t)
	made, numbers, clients := map[string]*payments.Transaction{}, map[string]string{}, map[string]sandboxes.TestClientConfig{}
	for name, c := range cases {
		numbers[name] = fmt.Sprintf("+2507880%05d", len(numbers))
		if c.made != nil {
			clients[name] = w.Client(name, numbers[name], 1000, c.made)
		}
		made[name] = w.Pending(name, numbers[name])
	}
	for name, c := range cases {
		then := clients[name]
		if c.then != nil {
			c.then(&then)
		}
		if c.made != nil && (c.then == nil || then.UID != clients[name].UID) {
			if err := w.DeleteTestClient(t.Context(), clients[name].UID); err != nil {
				t.Fatal(err)
			}
		}
		if c.then != nil {
			w.Client(name, numbers[name], 1000, c.then)
		}
	}
	counts := w.Settle()
	if diff := cmp.Diff(ledger.BatchCounts{Claimed: len(cases), Parked: 2}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	for name, c := range cases {
		got := w.Get(made[name].ID)
		if got.Status != c.status || (got.CompletedAt == nil) != (c.status == payments.Pending) {
			t.Errorf("%s: got %s, completed at %v, want %s", name, got.Status, got.CompletedAt, c.status)
		}
		if (got.MerchantBalanceAfter != nil) != (c.status == payments.Success) ||
			(got.SIMBalanceAfter != nil) != (c.status == payments.Success && c.made != nil) {
			t.Errorf("%s: balances after it %v and %v", name, got.MerchantBalanceAfter, got.SIMBalanceAfter)
		}
		if c.left >= 0 {
			if got := w.Balance(numbers[name]); got != c.left {
				t.Errorf("%s: the SIM has %d, want %d", name, got, c.left)
			}
		}
	}
	w.Conserved()
}

func TestPaymentsOfOneBatchCompeteForTheLastMoney(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 2500)
	var made []*payments.Transaction
	for i := range 4 {
		made = append(made, w.Pending(fmt.Sprint("r", i), alice))
		w.Exec("update transactions set due_at = now() - make_interval(secs => 10 - $2) where id = $1", postgres.UUID(made[i].ID), i)
	}
	w.Settle()
	var got []payments.Status
	for _, m := range made {
		got = append(got, w.Get(m.ID).Status)
	}
	want := []payments.Status{payments.Success, payments.Success, payments.InsufficientFunds, payments.InsufficientFunds}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in the order in which they were due (-want +got):\n%s", diff)
	}
	first, second := w.Get(made[0].ID), w.Get(made[1].ID)
	if diff := cmp.Diff([]int64{1985, 1500, 2970, 500},
		[]int64{*first.MerchantBalanceAfter, *first.SIMBalanceAfter, *second.MerchantBalanceAfter, *second.SIMBalanceAfter}); diff != "" {
		t.Errorf("running balances (-want +got):\n%s", diff)
	}
	w.Conserved()
}

func TestOnlyWhatIsDueIsSettled(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	n := w.Collection("r1", payments.Pending, alice)
	n.AnswerAfter = time.Minute
	made := w.Create(n)
	if got := w.Settle(); got.Claimed != 0 {
		t.Errorf("%d were settled before they were due", got.Claimed)
	}
	w.Exec("update transactions set due_at = now()")
	w.Settle()
	if got := w.Get(made.ID); got.Status != payments.Success {
		t.Errorf("got %s", got.Status)
	}
	if got := w.Settle(); got.Claimed != 0 {
		t.Errorf("%d were settled twice", got.Claimed)
	}
	w.Conserved()
}

func TestUnansweredPaymentTimesOutWhenItExpires(t *testing.T) {
	for _, behavior := range []payments.Behavior{payments.Ignore, payments.Manual} {
		t.Run(string(behavior), func(t *testing.T) {
			w := newFixture(t)
			w.Client("alice", alice, 5000, behaves(behavior))
			made := w.Pending("r1", alice)
			w.Settle()
			if got := w.Count(
				"select count(*) from transactions where due_at = expires_at and expires_at = created_at + interval '1 hour'",
			); got != 1 {
				t.Fatal("the payment does not wait for its expiry")
			}
			if got := w.Settle(); got.Claimed != 0 {
				t.Errorf("it was claimed again before its expiry")
			}
			w.Exec("update transactions set due_at = now(), expires_at = now()")
			w.Client("alice", alice, 5000) // too late
			w.Settle()
			if got := w.Get(made.ID); got.Status != payments.Timeout || got.MerchantBalanceAfter != nil {
				t.Errorf("got %+v", got)
			}
			w.Conserved()
		})
	}
}

func TestLateWorkerDoesNotExpireWhatWasApprovedInTime(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	made := w.Pending("r1", alice)
	w.Exec("update transactions set due_at = now() - interval '3 hours', expires_at = now() - interval '2 hours'")
	w.Settle()
	if got := w.Get(made.ID); got.Status != payments.Success {
		t.Errorf("got %s", got.Status)
	}
	w.Conserved()
}

// A payer who takes longer than the payment lives never answers in time.
func TestSlowAnswerIsNoAnswer(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	n := w.Collection("r1", payments.Pending, alice)
	n.AnswerAfter, n.ExpireAfter = 2*time.Hour, time.Hour
	made := w.Create(n)
	if got := w.Count("select count(*) from transactions where due_at = expires_at"); got != 1 {
		t.Fatal("it is not due when it expires")
	}
	w.Exec("update transactions set due_at = now(), expires_at = now()")
	w.Settle()
	if got := w.Get(made.ID); got.Status != payments.Timeout {
		t.Errorf("got %s", got.Status)
	}
}

func TestRemovedEnvironmentSettlesWhatItHas(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	made := w.Pending("r1", alice)
	w.Config.Environments, w.Config.Stores = w.Config.Environments[1:], nil
	w.Apply()
	w.Settle()
	if got := w.Get(made.ID); got.Status != payments.Success {
		t.Errorf("got %s", got.Status)
	}
	w.Conserved()
}

func TestDeletedSandboxSettlesNothing(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.Pending("r1", alice)
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	if got := w.Settle(); got.Claimed != 0 {
		t.Errorf("%d were settled", got.Claimed)
	}
}

// Several workers settle a heap of payments of a few merchants and SIMs: each once.
func TestConcurrentSettlement(t *testing.T) {
	w := newFixture(t)
	fixtures := []*fixture{w, w.beside("second"), w.beside("third", func(c *sandboxes.Config) { c.Webhook = nil })}
	const each, sims = 160, 3 // the poor ones of each, and one that can pay all
	total := 0
	for _, w := range fixtures {
		for i := range sims + 1 {
			msisdn := fmt.Sprintf("+25078800000%d", i)
			balance := int64(100_000) // for 100 of 160
			if i == sims {
				balance = 1000 * each
			}
			w.Client(fmt.Sprint("sim", i), msisdn, balance)
			w.Multiply(w.Pending(msisdn, msisdn), each-1)
			total += each
		}
	}
	var claimed atomic.Int64
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for {
				counts, err := ledgertest.SettleDue(context.Background(), w.Store, 100)
				if err != nil {
					t.Error(err)
					return
				}
				if counts.Claimed == 0 {
					return
				}
				claimed.Add(int64(counts.Claimed))
			}
		})
	}
	wg.Wait()
	if got := claimed.Load(); got != int64(total) {
		t.Errorf("%d payments were claimed, want %d", got, total)
	}
	const successes = 3 * (sims*100 + each)
	for what, want := range map[string]int{
		"transactions where status = 'SUCCESS'":                         successes,
		"transactions where status = 'INSUFFICIENT_FUNDS'":              total - successes,
		"transactions where status = 'PENDING'":                         0,
		"sims where balance <> 0":                                       0,
		"events":                                                        total,
		"events where state = 'recorded'":                               total / 3,
		"floats where currency = 'RWF' and balance <> 1000 + 985 * 460": 0,
	} {
		if got := w.Count("select count(*) from " + what); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	w.Conserved()
}

// Everything that moves money at the same time: payments that succeed at once, settlement, and edits of the float and of a
// SIM.
func TestMoneyIsConservedWhateverHappensAtOnce(t *testing.T) {
	w := newFixture(t)
	alices := w.Client("alice", alice, 1_000_000)
	const bob = "+250788000002"
	w.Client("bob", bob, 50_000)
	for _, msisdn := range []string{alice, bob, "+250788000003"} {
		w.Multiply(w.Pending(msisdn, msisdn), 199)
	}
	var todo [2][]*ledger.NewCollection
	for i := range 100 {
		todo[0] = append(todo[0], w.Collection(fmt.Sprint("a", i), payments.Success, alice))
		todo[1] = append(todo[1], w.Collection(fmt.Sprint("b", i), payments.Success, bob))
	}
	ctx := context.Background()
	var paying, edits sync.WaitGroup
	for _, work := range todo {
		paying.Go(func() {
			for _, n := range work {
				for { // an edit of the float is a new configuration; the api decided again then
					n.ConfigVersion = int64(w.Count("select version from organizations"))
					if err := w.CreateCollection(ctx, w.Sandbox.Tenant, n); err == nil {
						break
					} else if !errors.Is(err, postgres.ErrConfigChanged) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 2 {
		paying.Go(func() {
			for {
				counts, err := ledgertest.SettleDue(ctx, w.Store, 20)
				if err != nil {
					t.Error(err)
				}
				if err != nil || counts.Claimed == 0 {
					return
				}
			}
		})
	}
	done := make(chan struct{})
	edit := func(f func(i int) error) {
		edits.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if err := f(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	edit(func(i int) error {
		config := w.Config
		config.OpeningFloat = map[payments.Currency]int64{payments.RWF: int64(1000 + i%7)}
		_, err := w.ApplySandbox(ctx, config)
		return err
	})
	edit(func(i int) error {
		config := alices
		config.Balance = int64(900_000 + i%5)
		_, err := w.ApplyTestClient(ctx, w.Config.UID, config)
		return err
	})
	paying.Wait()
	close(done)
	edits.Wait()
	w.Settle()
	w.Conserved()
}

// What settles several sandboxes locks one after the other, as a shared commit does. So it does not wait for the float of one while it
// holds a payer of the next: a shared commit that holds the float would wait for that payer.
func TestSettlementLocksSandboxBySandbox(t *testing.T) {
	w := newFixture(t)
	all := []*fixture{w, w.beside("next")}
	slices.SortFunc(all, func(a, b *fixture) int { return int(a.Sandbox.Tenant - b.Sandbox.Tenant) })
	var due []queues.DueTenant
	for _, f := range all {
		f.Client("alice", alice, 5000)
		f.Pending("due", alice)
		due = append(due, queues.DueTenant{Tenant: f.Sandbox.Tenant})
	}
	shared, err := w.SQL.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = shared.Rollback(context.Background()) }()
	lock := func(statement string, f *fixture) {
		t.Helper()
		if _, err := shared.Exec(t.Context(), statement, f.Sandbox.Tenant); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	lock("select from floats where tenant = $1 for update", all[0])
	settled := make(chan error, 1)
	go func() {
		counts, err := w.SettleDue(t.Context(), due, 50)
		if err == nil && counts.Claimed != len(all) {
			err = fmt.Errorf("settled %+v", counts)
		}
		settled <- err
	}()
	ledgertest.Eventually(t, func() bool { return w.blocked() == 1 })
	lock("select from sims where tenant = $1 for update nowait", all[1])
	if err := shared.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-settled; err != nil {
		t.Error(err)
	}
	for _, f := range all {
		f.Conserved()
	}
}
