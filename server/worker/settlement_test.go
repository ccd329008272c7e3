package worker_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// newFixtureAlone is newFixture for a test that needs much of the machine: no other test of the package runs beside it.
func newFixtureAlone(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{t: t, url: ledgertest.URL(t), hook: newReceiver(t, nil)}
	w.Store = ledgertest.Open(t, w.url)
	w.open()
	return w
}

// alices sets what alice does and has.
func (w *fixture) alices(behavior payments.Behavior, balance int64) {
	w.t.Helper()
	if _, err := w.ApplyTestClient(w.t.Context(), w.config.UID, sandboxes.TestClientConfig{
		UID: uuid.UUID(sim.ID).String(), Name: "alice", MSISDN: alice, Operator: payments.MTN, Country: payments.Rwanda,
		Behavior: behavior, Balance: balance,
	}); err != nil {
		w.t.Fatal(err)
	}
}

// Ten thousand payments of one merchant, and of one payer at that, are settled by two workers, and the money adds up. The workers have
// been there for a while, so that their statements were planned when there was next to nothing. The row `settle10k` of the bench says
// how long it takes.
func TestHotMerchantIsSettled(t *testing.T) {
	const total = 10_000
	w := newFixtureAlone(t)
	w.configure(func(c *sandboxes.Config) { c.Webhook = nil })
	w.alices(payments.Approve, 1000*(total+1))
	w.run()
	w.run()
	first := w.pay("first", payments.Pending)
	w.ended(first)
	if _, err := w.sql.Exec(t.Context(), `insert into transactions
		select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'reference', i::text, 'status', 'PENDING',
			'completed_at', null, 'due_at', now() + interval '1 hour', 'merchant_delta', 0, 'sim_delta', 0,
			'merchant_balance_after', null, 'sim_balance_after', null))).*
		from transactions t, generate_series(1, $2::int) i where t.id = $1`, [16]byte(first), total); err != nil {
		t.Fatal(err)
	}
	if _, err := w.sql.Exec(t.Context(), "update transactions set due_at = now() where status = 'PENDING'"); err != nil {
		t.Fatal(err)
	}
	due := time.Now()
	eventually(t, func() string {
		if n := read[int](w, "select count(*) from transactions where status = 'PENDING'"); n > 0 {
			return fmt.Sprintf("%d payments are not settled", n)
		}
		return ""
	})
	t.Logf("%d payments of one merchant were settled in %v, by two workers beside their database on %d cores", total,
		time.Since(due).Round(time.Millisecond), runtime.NumCPU())
	got := read[[]int64](w, `select array[(select balance from floats), (select balance from sims),
		(select sum(merchant_delta) from transactions), (select sum(sim_delta) from transactions),
		(select count(distinct merchant_balance_after) from transactions), (select count(distinct sim_balance_after) from transactions),
		(select count(*) from transactions where status = 'SUCCESS'), (select count(*) from events)]`)
	const all = total + 1
	if diff := cmp.Diff([]int64{1000 + 1000*all, 0, 1000 * all, -1000 * all, all, all, all, all}, got); diff != "" {
		t.Errorf("the money and the events do not add up (-want +got):\n%s", diff)
	}
}
