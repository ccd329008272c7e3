package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// twins are two sandboxes alike, with SIMs alike: one that can pay a few times, a poor one, a blocked one, one of another currency.
func twins(t *testing.T, change func(*sandboxes.Config)) (w, twin *fixture) {
	t.Helper()
	w = newFixture(t, change)
	twin = w.beside("twin")
	for _, fixture := range []*fixture{w, twin} {
		fixture.Client("alice", alice, 5000)
		fixture.Client("poor", "+250788000002", 300)
		fixture.Client("blocked", "+250788000003", 5000, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
		fixture.Client("abroad", "+250788000004", 5000, func(c *sandboxes.TestClientConfig) { c.Operator, c.Country = payments.Orange, "CI" })
		fixture.Reload()
	}
	return w, twin
}

// recorded is all that a sandbox recorded, without what differs between twins.
func (w *fixture) recorded() []string {
	w.T.Helper()
	return read[[]string](w, `
		select array_agg(line order by line) from (
		  select concat_ws(' ', t.reference, t.type, t.status, encode(t.request_hash, 'hex'), t.order_ref, t.order_url, t.is_url_protected, t.store,
		    coalesce(t.description, 'null'), t.scenario, t.operator, t.country, t.currency, t.msisdn, t.amount, t.commission, t.net_amount,
		    t.absorption_pct, t.latency_ms, t.float_currency, s.name, t.merchant_delta, t.sim_delta, t.merchant_balance_after,
		    coalesce(t.sim_balance_after::text, 'null'), t.completed_at = t.created_at, t.due_at, e.state, e.due_at - t.created_at) as line
		  from transactions t left join sims s on s.tenant = t.tenant and s.sim_id = t.sim_id
		  left join events e on e.tenant = t.tenant and e.id = t.id where t.tenant = $1
		  union all select concat_ws(' ', 'float', currency, balance) from floats where tenant = $1
		  union all select concat_ws(' ', 'sim', name, balance) from sims where tenant = $1
		  union all select concat_ws(' ', 'quota', used) from quota_usage where tenant = $1) x`, w.Sandbox.Tenant)
}

// anyCollection and anyDisbursement are of any kind, some of them with a reference that was used before, or decided on another
// configuration than the present one. Twins get the same from the same source of chance.
func (w *fixture) anyCollection(chance *rand.Rand, i int) *ledger.NewCollection {
	n := w.Collection(anyReference(chance, i), payments.Success, fmt.Sprintf("+25078800000%d", 1+chance.IntN(5)))
	n.ConfigVersion -= int64(chance.IntN(15) / 14)
	n.AnswerAfter = time.Duration(chance.IntN(3)) * time.Second
	t := &n.Transaction
	t.Amount = 100 + chance.Int64N(900)
	t.Commission = t.Amount / 10
	t.NetAmount = t.Amount - t.Commission/2
	t.Scenario = payments.ScenarioSuccess
	vary(chance, t)
	return n
}

func (w *fixture) anyDisbursement(chance *rand.Rand, i int) *ledger.NewDisbursement {
	n := w.Disbursement(anyReference(chance, i), payments.Success, fmt.Sprintf("+25078800000%d", 1+chance.IntN(5)), 1+chance.Int64N(400))
	n.ConfigVersion -= int64(chance.IntN(15) / 14)
	n.Unknown = []payments.Status{payments.Success, payments.UnknownMSISDN}[chance.IntN(2)]
	latency := func() ledger.Latency {
		return ledger.Latency{Simulated: time.Duration(chance.IntN(9)) * time.Second, Waited: time.Duration(chance.IntN(9)) * time.Second}
	}
	n.Latency = ledger.PayoutLatency{Paid: latency(), Refused: latency(), Unknown: latency(), Blocked: latency()}
	vary(chance, &n.Transaction)
	return n
}

func anyReference(chance *rand.Rand, i int) string {
	return fmt.Sprint("r", max(0, i-chance.IntN(40)/30*chance.IntN(5)))
}

func vary(chance *rand.Rand, t *payments.Transaction) {
	t.OrderRef, t.URLProtected, t.AbsorptionPct = fmt.Sprint("o", chance.IntN(3)), chance.IntN(2) == 0, chance.IntN(101)
	t.Latency = time.Duration(chance.IntN(2000)) * time.Millisecond
	if text := []string{"", "two tickets"}[chance.IntN(2)]; chance.IntN(2) == 0 {
		t.Description = &text
	}
	if url := "https://shop.example/o"; chance.IntN(2) == 0 {
		t.OrderURL = &url
	}
}

// What is booked together comes to exactly what it comes to one by one.
func TestBookedTogetherAsOneByOne(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			change := func(c *sandboxes.Config) {
				c.OpeningFloat = map[payments.Currency]int64{payments.RWF: 3000}
				if seed%3 == 1 {
					quota(70)(c)
				}
				if seed%3 == 2 {
					c.Webhook = nil
				}
			}
			together, single := twins(t, change)
			var got, want []string
			tried := 0
			chance := rand.New(rand.NewPCG(seed, 1))
			for round := range 14 {
				size := 1 + chance.IntN(20)
				a, b := rand.New(rand.NewPCG(seed, uint64(tried))), rand.New(rand.NewPCG(seed, uint64(tried)))
				if round%2 == 0 {
					batch, alike := many(a, tried, size, together.anyCollection), many(b, tried, size, single.anyCollection)
					errs, order := together.BookTogether(t.Context(), together.Sandbox.Tenant, batch)
					for _, k := range order {
						got = append(got, told(&batch[k].Transaction, batch[k].AnswerAfter, errs[k]))
						err := single.CreateCollection(t.Context(), single.Sandbox.Tenant, alike[k])
						want = append(want, told(&alike[k].Transaction, alike[k].AnswerAfter, err))
					}
				} else {
					batch, alike := many(a, tried, size, together.anyDisbursement), many(b, tried, size, single.anyDisbursement)
					errs, order := together.DisburseTogether(t.Context(), together.Sandbox.Tenant, batch)
					for _, k := range order {
						got = append(got, told(&batch[k].Transaction, batch[k].AnswerAfter, errs[k]))
						err := single.CreateDisbursement(t.Context(), single.Sandbox.Tenant, alike[k])
						want = append(want, told(&alike[k].Transaction, alike[k].AnswerAfter, err))
					}
				}
				tried += size
			}
			if booked := together.Count("select count(*) from transactions where tenant = $1", together.Sandbox.Tenant); booked < 50 {
				t.Errorf("only %d of %d were booked", booked, tried)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-one by one +together):\n%s", diff)
			}
			if diff := cmp.Diff(single.recorded(), together.recorded()); diff != "" {
				t.Errorf("rows (-one by one +together):\n%s", diff)
			}
			together.Conserved()
		})
	}
}

func many[T any](chance *rand.Rand, from, n int, create func(*rand.Rand, int) T) (all []T) {
	for k := range n {
		all = append(all, create(chance, from+k))
	}
	return all
}

// told is what a caller is told, without what differs between twins.
func told(t *payments.Transaction, after time.Duration, err error) string {
	var taken *ledger.ErrReferenceTaken
	switch {
	case errors.As(err, &taken):
		return fmt.Sprintf("%s is taken by a %s of %d", t.Reference, taken.Transaction.Type, taken.Transaction.Amount)
	case err != nil:
		return fmt.Sprintf("%s: %v", t.Reference, err)
	}
	balance := func(b *int64) string {
		if b == nil {
			return "-"
		}
		return fmt.Sprint(*b)
	}
	return fmt.Sprint(
		t.Reference,
		" ",
		t.Status,
		t.Latency,
		after,
		t.CompletedAt.Equal(t.CreatedAt),
		balance(t.MerchantBalanceAfter),
		"/",
		balance(t.SIMBalanceAfter),
	)
}

// hold locks the float until the test lets go.
func (w *fixture) hold() (release func()) {
	w.T.Helper()
	return w.holding("select from floats where tenant = $1 for update", w.Sandbox.Tenant)
}

// holding keeps the locks of a statement until the test lets go.
func (w *fixture) holding(statement string, args ...any) (release func()) {
	w.T.Helper()
	tx, err := w.SQL.Begin(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := tx.Exec(w.T.Context(), statement, args...); err != nil {
		w.T.Fatal(err)
	}
	return func() { _ = tx.Rollback(context.Background()) }
}

// pile has collections wait for a float that is held: the first in the database, the others behind it.
func (w *fixture) pile(s *ledgertest.Store, all []*ledger.NewCollection) []<-chan error {
	w.T.Helper()
	var done []<-chan error
	for i, n := range all {
		result := make(chan error, 1)
		done = append(done, result)
		go func() { result <- s.CreateCollection(context.Background(), w.Sandbox.Tenant, n) }()
		if i == 0 {
			w.until("the first waits for the float", func() bool { return w.blocked() == 1 })
		}
		w.until("it waits", func() bool { return s.CollectionsWaiting() == i })
	}
	return done
}

// blocked is how many statements wait for a lock.
func (w *fixture) blocked() int {
	return w.Count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
}

func (w *fixture) until(what string, reached func() bool) {
	w.T.Helper()
	for deadline := time.Now().Add(time.Minute); !reached(); {
		if time.Now().After(deadline) {
			w.T.Fatalf("it never comes to this: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (w *fixture) collections(n int) (all []*ledger.NewCollection) {
	for i := range n {
		all = append(all, w.Collection(fmt.Sprint("c", i), payments.Success, alice))
	}
	return all
}

func TestOneThatFailsInABatchFailsOnlyItself(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 100_000)
	s := w.Opened(ledgertest.Options{Options: postgres.Options{MaxConns: 4}})
	made := w.Create(w.Collection("r1", payments.Success, alice))
	all := w.collections(6)
	all[2].Transaction.ID = made.ID // a duplicate that is nobody's fault, and an error of the whole statement
	all[4].Transaction.Reference = "c3"
	release := w.hold()
	done := w.pile(s, all)
	release()
	for i, result := range done {
		err := <-result
		var taken *ledger.ErrReferenceTaken
		switch {
		case i == 2 && (err == nil || errors.Is(err, postgres.ErrUnavailable)):
			t.Errorf("the duplicate returns %v", err)
		case i == 3 || i == 4: // one of them
			if err != nil && !errors.As(err, &taken) {
				t.Errorf("one of two with a reference returns %v", err)
			}
		case i != 2 && err != nil:
			t.Errorf("number %d returns %v", i, err)
		}
	}
	if n := w.Count("select count(*) from transactions"); n != 5 {
		t.Errorf("%d are recorded, want 5", n)
	}
	w.Conserved()
}

func TestBatchWhoseConnectionDiesIsNotHalfDone(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 100_000)
	s := w.Opened(ledgertest.Options{Options: postgres.Options{MaxConns: 4}})
	all := w.collections(6)
	release := w.hold()
	done := w.pile(s, all)
	kill := func() {
		w.Exec("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
	}
	kill()
	if err := <-done[0]; !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("the first returns %v", err)
	}
	w.until("the others wait for the float, together", func() bool { return s.CollectionsWaiting() == 0 && w.blocked() == 1 })
	kill()
	for _, result := range done[1:] {
		if err := <-result; !errors.Is(err, postgres.ErrUnavailable) {
			t.Errorf("one of the batch returns %v", err)
		}
	}
	release()
	if n := w.Count("select count(*) from transactions"); n != 0 {
		t.Errorf("%d are recorded", n)
	}
	for _, n := range w.collections(6) {
		if err := s.CreateCollection(t.Context(), w.Sandbox.Tenant, n); err != nil {
			t.Error(err)
		}
	}
	w.Conserved()
}

// A sandbox that is reset, suspended or deleted while its collections wait: none of them is booked.
func TestBatchOfASandboxThatChanges(t *testing.T) {
	cases := map[string]func(w *fixture){
		"reset":     func(w *fixture) { w.Config.Reset = "again"; w.Apply() },
		"suspended": func(w *fixture) { w.Config.Suspended = true; w.Apply() },
		"deleted": func(w *fixture) {
			if err := w.DeleteSandbox(w.T.Context(), w.Config.UID); err != nil {
				w.T.Error(err)
			}
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			all := w.collections(5)
			change(w)
			errs, _ := w.BookTogether(t.Context(), w.Sandbox.Tenant, all)
			for i, err := range errs {
				if !errors.Is(err, postgres.ErrConfigChanged) {
					t.Errorf("number %d returns %v", i, err)
				}
			}
			if n := w.Count("select count(*) from transactions"); n != 0 {
				t.Errorf("%d are recorded", n)
			}
			w.Conserved()
		})
	}
}

// One sandbox's backlog leaves connections to the others.
func TestBusySandboxLeavesConnectionsToOthers(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 100_000)
	parent := w.Create(w.Collection("parent", payments.Success, alice)).ID
	other := w.beside("other")
	s := w.Opened(ledgertest.Options{Options: postgres.Options{MaxConns: 4}})
	release := w.hold()
	results := make(chan error, 40)
	for i := range 20 {
		go func() {
			results <- s.CreateDisbursement(context.Background(), w.Sandbox.Tenant, w.Disbursement(fmt.Sprint("d", i), payments.Success, alice, 1))
		}()
		go func() {
			_, _, err := s.CreateRefund(context.Background(), w.Sandbox.Tenant, w.Refund(parent, fmt.Sprint("f", i), 1))
			results <- err
		}()
	}
	w.until("as many statements of the sandbox as may wait for its float", func() bool { return w.blocked() == 3 })
	n := other.Collection("theirs", payments.Success, alice)
	if err := s.CreateCollection(t.Context(), other.Sandbox.Tenant, n); err != nil {
		t.Error(err)
	}
	if got := w.blocked(); got != 3 {
		t.Errorf("%d statements wait", got)
	}
	release()
	for range 40 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	w.Conserved()
}
