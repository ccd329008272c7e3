package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// float is what the sandbox has of a currency.
func (w *fixture) float(currency payments.Currency) int64 {
	w.T.Helper()
	return read[int64](w, "select balance from floats where tenant = $1 and currency = $2", w.Sandbox.Tenant, string(currency))
}

// eventAfter is how long after its transaction an event is due, negative if it is not sent.
func (w *fixture) eventAfter(id payments.ID) time.Duration {
	w.T.Helper()
	ms := read[float64](w, `select coalesce(extract(epoch from e.due_at - t.created_at)::float8 * 1000, -1) from events e
		join transactions t using (tenant, id) where t.id = $1`, postgres.UUID(id))
	return time.Duration(ms) * time.Millisecond
}

func TestPayoutWithoutAnEndpointRecordsItsEventOnly(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.Webhook = nil })
	parent := w.Create(w.Collection("r1", payments.Success, alice))
	for _, id := range []payments.ID{
		w.Refunded(parent.ID, "f1", 1).ID, w.Disburse(w.Disbursement("d1", payments.Success, alice, 1)).ID,
		w.Disburse(w.Disbursement("d2", payments.UnknownMSISDN, alice, 1)).ID,
	} {
		if after := w.eventAfter(id); after >= 0 {
			t.Errorf("the event is due after %s", after)
		}
		if state := read[string](w, "select state::text from events where id = $1", postgres.UUID(id)); state != "recorded" {
			t.Errorf("the event is %s", state)
		}
	}
}

func TestDisbursementOutcomes(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 50)
	const blocked = "+250788000003"
	w.Client("blocked", blocked, 50, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	null := func(n *int64) any {
		if n == nil {
			return nil
		}
		return *n
	}
	for _, c := range []struct {
		name      string
		n         *ledger.NewDisbursement
		status    payments.Status
		latency   time.Duration
		after     time.Duration
		merchant  any
		recipient any
	}{
		{"to a SIM", w.Disbursement("d1", payments.Success, alice, 300),
			payments.Success, 1200 * time.Millisecond, 3 * time.Second, int64(700), int64(350)},
		{"to no SIM", w.Disbursement("d2", payments.Success, "+250788999999", 300),
			payments.Success, 1200 * time.Millisecond, 3 * time.Second, int64(400), nil},
		{"beyond the float", w.Disbursement("d3", payments.Success, alice, 401),
			payments.InsufficientFunds, 700 * time.Millisecond, 1500 * time.Millisecond, int64(400), nil},
		{"refused by the recipient", w.Disbursement("d4", payments.Success, blocked, 1),
			payments.AccountBlocked, 900 * time.Millisecond, 400 * time.Millisecond, int64(400), nil},
		{"refused, beyond the float", w.Disbursement("d5", payments.UnknownMSISDN, alice, 401),
			payments.UnknownMSISDN, time.Second, 500 * time.Millisecond, int64(400), nil},
		{"of all that is left", w.Disbursement("d6", payments.Success, alice, 400),
			payments.Success, 1200 * time.Millisecond, 3 * time.Second, int64(0), int64(750)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.Disburse(c.n)
			if got.Status != c.status || got.Latency != c.latency || c.n.AnswerAfter != c.after || w.eventAfter(got.ID) != c.after {
				t.Errorf(
					"it is %s with a latency of %s, answered after %s, its event due after %s",
					got.Status,
					got.Latency,
					c.n.AnswerAfter,
					w.eventAfter(got.ID),
				)
			}
			if null(got.MerchantBalanceAfter) != c.merchant || null(got.SIMBalanceAfter) != c.recipient {
				t.Errorf("balances after it are %v and %v", null(got.MerchantBalanceAfter), null(got.SIMBalanceAfter))
			}
			if diff := cmp.Diff(w.Get(got.ID), got); diff != "" {
				t.Errorf("disbursement (-read +made):\n%s", diff)
			}
			var taken *ledger.ErrReferenceTaken
			if err := w.CreateDisbursement(
				t.Context(),
				w.Sandbox.Tenant,
				w.Disbursement(got.Reference, c.n.Transaction.Status, alice, 1),
			); !errors.As(
				err,
				&taken,
			) {
				t.Fatalf("repeated, it returns %v", err)
			}
			if diff := cmp.Diff(got, taken.Transaction); diff != "" {
				t.Errorf("disbursement (-made +repeated):\n%s", diff)
			}
		})
	}
	w.Conserved()
}

func TestDisbursementOfAnOldConfigurationIsNotRecorded(t *testing.T) {
	w := newFixture(t)
	paid, refused := w.Disbursement("d1", payments.Success, alice, 1), w.Disbursement("d2", payments.UnknownMSISDN, alice, 1)
	w.Config.Stores = nil
	w.Apply()
	for _, n := range []*ledger.NewDisbursement{paid, refused} {
		if err := w.CreateDisbursement(t.Context(), w.Sandbox.Tenant, n); !errors.Is(err, postgres.ErrConfigChanged) {
			t.Errorf("got %v, want ErrConfigChanged", err)
		}
	}
	if n := w.Count("select count(*) from transactions"); n != 0 {
		t.Errorf("%d were recorded", n)
	}
	w.Conserved()
}

// A recipient may change between the decision and the record.
func TestRecipientThatChangedMeanwhile(t *testing.T) {
	w := newFixture(t)
	for name, c := range map[string]struct {
		then func(sandboxes.TestClientConfig)
		left int64 // of 50, on the SIM; -1: it is gone
	}{
		"got more money": {func(c sandboxes.TestClientConfig) { w.Client(c.Name, c.MSISDN, 70) }, 80},
		"gone":           {func(c sandboxes.TestClientConfig) { _ = w.DeleteTestClient(t.Context(), c.UID) }, -1},
		"of another country": {func(c sandboxes.TestClientConfig) {
			w.Client(c.Name, c.MSISDN, 50, func(c *sandboxes.TestClientConfig) { c.Country = payments.Benin })
		}, 50},
	} {
		t.Run(name, func(t *testing.T) {
			msisdn := "+25078800001" + fmt.Sprint(len(name)%10)
			client := w.Client(name, msisdn, 50)
			n := w.Disbursement(name, payments.Success, msisdn, 10)
			c.then(client)
			got := w.Disburse(n)
			if got.Status != payments.Success {
				t.Errorf("it is %s", got.Status)
			}
			if c.left >= 0 && w.Balance(msisdn) != c.left {
				t.Errorf("the SIM has %d, want %d", w.Balance(msisdn), c.left)
			}
			if _, err := w.ApplyTestClient(t.Context(), w.Config.UID, client); err == nil {
				_ = w.DeleteTestClient(t.Context(), client.UID)
			}
		})
	}
}

// waiting runs a payout that has to wait for a lock that another transaction holds, until do has run and is committed.
func (w *fixture) waiting(lock string, do []string, payout func() error) error {
	w.T.Helper()
	tx, err := w.SQL.Begin(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(w.T.Context(), lock); err != nil {
		w.T.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- payout() }()
	ledgertest.Eventually(w.T, func() bool {
		return w.Count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == 1
	})
	for _, sql := range do {
		if _, err := tx.Exec(w.T.Context(), sql); err != nil {
			w.T.Fatal(err)
		}
	}
	if err := tx.Commit(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	return <-done
}

// The statement's snapshot is older than the balance that its lock finds: the balance decides, whichever way it went.
func TestPayoutIsDecidedByTheBalanceThatItLocked(t *testing.T) {
	for name, c := range map[string]struct {
		before, then int64
		status       payments.Status
	}{
		"a float that rises": {0, 500, payments.Success},
		"a float that falls": {500, 399, payments.InsufficientFunds},
		"a float to the end": {0, 400, payments.Success},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.Client("alice", alice, 50)
			parent := w.Create(w.Collection("r1", payments.Success, "+250788999999"))
			set := func(balance int64) string {
				return fmt.Sprintf("update floats set balance = %d where currency = 'RWF'", balance)
			}
			const lock = "select from floats for update"
			w.Exec(set(c.before))
			n := w.Disbursement("d1", payments.Success, alice, 400)
			if err := w.waiting(
				lock,
				[]string{set(c.then)},
				func() error { return w.CreateDisbursement(context.Background(), w.Sandbox.Tenant, n) },
			); err != nil {
				t.Fatal(err)
			}
			w.Exec(set(c.before))
			var refund *payments.Transaction
			err := w.waiting(lock, []string{set(c.then)}, func() (err error) {
				refund, _, err = w.CreateRefund(context.Background(), w.Sandbox.Tenant, w.Refund(parent.ID, "f1", 400))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			left := c.then
			if c.status == payments.Success {
				left -= 400
			}
			for _, got := range []*payments.Transaction{&n.Transaction, refund} {
				if got.Status != c.status || *got.MerchantBalanceAfter != left {
					t.Errorf("a %s is %s, the float has %d after it; want %s and %d", got.Type, got.Status, *got.MerchantBalanceAfter, c.status, left)
				}
			}
			if w.float(payments.RWF) != left {
				t.Errorf("the float has %d, want %d", w.float(payments.RWF), left)
			}
		})
	}
}

func TestConcurrentPayoutsOfOneFloat(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 0)
	many := w.Opened(ledgertest.Options{Options: postgres.Options{MaxConns: 16}})
	var todo []*ledger.NewDisbursement
	for i := range 64 {
		todo = append(todo, w.Disbursement(fmt.Sprint("d", i), payments.Success, alice, 70))
	}
	var wg sync.WaitGroup
	for _, n := range todo {
		wg.Go(func() {
			if err := many.CreateDisbursement(context.Background(), w.Sandbox.Tenant, n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	counts := map[payments.Status]int{}
	for _, n := range todo {
		counts[n.Transaction.Status]++
	}
	if diff := cmp.Diff(map[payments.Status]int{payments.Success: 14, payments.InsufficientFunds: 50}, counts); diff != "" {
		t.Errorf("64 disbursements of 70 from 1000 (-want +got):\n%s", diff)
	}
	if w.float(payments.RWF) != 20 || w.Balance(alice) != 980 {
		t.Errorf("the float has %d, the SIM %d", w.float(payments.RWF), w.Balance(alice))
	}
	w.Conserved()
}

// TestEverythingThatMovesMoneyAtOnce lets collections, refunds, disbursements, settlement and answers by hand, with a quota to
// count, compete for the same rows.
func TestEverythingThatMovesMoneyAtOnce(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) {
		quota := int64(100_000)
		c.MonthlyQuota = &quota
	})
	numbers := []string{alice, "+250788000002", "+250788000003"}
	var parents []payments.ID
	for i, msisdn := range numbers {
		w.Client(fmt.Sprint("sim", i), msisdn, 15_000)
		parents = append(parents, w.Create(w.Collection(fmt.Sprint("p", i), payments.Success, msisdn)).ID)
	}
	many := w.Opened(ledgertest.Options{Options: postgres.Options{MaxConns: 12}})
	var todo []func() error
	ctx, tenant := context.Background(), w.Sandbox.Tenant
	for i := range 60 {
		msisdn, parent := numbers[i%3], parents[(i+1)%3]
		booked, pending := w.Collection(fmt.Sprint("b", i), payments.Success, msisdn), w.Collection(fmt.Sprint("w", i), payments.Pending, msisdn)
		prompt := w.Collection(fmt.Sprint("m", i), payments.Pending, msisdn)
		refund, disbursement := w.Refund(
			parent,
			fmt.Sprint("f", i),
			60,
		), w.Disbursement(
			fmt.Sprint("d", i),
			payments.Success,
			numbers[(i+2)%3],
			900,
		)
		todo = append(todo,
			func() error { return many.CreateCollection(ctx, tenant, booked) },
			func() error { return many.CreateCollection(ctx, tenant, pending) },
			func() error { return many.CreateDisbursement(ctx, tenant, disbursement) },
			func() error {
				_, _, err := many.CreateRefund(ctx, tenant, refund)
				if exceeds := new(payments.ErrExceedsRefundable); errors.As(err, exceeds) {
					return nil
				}
				return err
			},
			func() error {
				if err := many.CreateCollection(ctx, tenant, prompt); err != nil {
					return err
				}
				_, _, err := many.AnswerPrompt(ctx, tenant, msisdn, prompt.Transaction.ID, payments.Answers[i%3])
				if closed := new(ledger.ErrPromptClosed); errors.As(err, &closed) {
					return nil // a settlement came first
				}
				return err
			},
			func() error { _, err := ledgertest.SettleDue(ctx, many, 7); return err },
		)
	}
	var wg sync.WaitGroup
	for _, do := range todo {
		wg.Go(func() {
			if err := do(); err != nil {
				t.Error(err) // a deadlock too
			}
		})
	}
	wg.Wait()
	w.Settle()
	if n := w.Count("select used from quota_usage"); n != w.Count("select count(*) from transactions") {
		t.Errorf("%d are counted", n)
	}
	for _, parent := range parents {
		if got := w.Get(
			parent,
		).Refunded; got > 1000 ||
			got != 60*int64(w.Count("select count(*) from transactions where parent_id = $1 and status = 'SUCCESS'", postgres.UUID(parent))) {
			t.Errorf("%d was refunded of a payment of 1000", got)
		}
	}
	w.Conserved()
}

func TestPayoutsOfASandboxThatIsGone(t *testing.T) {
	w := newFixture(t)
	parent := w.Create(w.Collection("r1", payments.Success, alice))
	disbursement := w.Disbursement("d1", payments.Success, alice, 1)
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	if err := w.CreateDisbursement(t.Context(), w.Sandbox.Tenant, disbursement); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("a disbursement returns %v", err)
	}
	if _, _, err := w.CreateRefund(t.Context(), w.Sandbox.Tenant, w.Refund(parent.ID, "f1", 1)); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("a refund returns %v", err)
	}
	for table, n := range w.TenantTables(w.Sandbox.Tenant) {
		if n != 0 {
			t.Errorf("there are %d rows in %s", n, table)
		}
	}
}
