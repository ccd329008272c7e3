package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// deadline makes the present the deadline of all expectations. It is looked at later.
func (w *fixture) deadline() {
	w.T.Helper()
	w.Exec("update expectations set deadline = clock_timestamp(), due_at = clock_timestamp()")
}

// What happened in time counts, and what happened after the deadline does not, however late a worker looks.
func TestExpectationThatIsEvaluatedLate(t *testing.T) {
	const paid, late = "early", "late"
	pay := func(w *fixture, reference string) payments.ID {
		return w.Create(w.Collection(reference, payments.Success, alice)).ID
	}
	attempt := func(w *fixture, state ledger.EventState) {
		a := ledger.AttemptResult{State: state, ResponseStatus: 204, StartedAt: w.Now()}
		if state != ledger.EventDelivered {
			a.ResponseStatus, a.Error = 500, "the receiver answered 500"
		}
		w.Due()
		w.Finish(w.leaseOne(ledgertest.Body()), a)
	}
	var refunded payments.ID
	for name, c := range map[string]struct {
		lines         string
		before, after func(w *fixture)
		want          string
	}{
		"a payment that comes too late": {
			`[{"transactions":{"where":{"status":"SUCCESS"},"count":1}}]`, nil, func(w *fixture) { pay(w, late) },
			"1 Failed DeadlineExceeded, false 0 transactions",
		},
		"a payment of an order that comes too late": {
			`[{"transactions":{"where":{"orderRef":"late"},"count":1}}]`, nil, func(w *fixture) { pay(w, late) },
			"1 Failed DeadlineExceeded, false 0 transactions",
		},
		"a payment in time and another one later": {
			`[{"transactions":{"where":{"status":"SUCCESS"},"count":1}},{"nothingElse":true}]`,
			func(w *fixture) { pay(w, paid) }, func(w *fixture) { pay(w, late) },
			"1 Met Met, true 1 transaction, true no other transaction",
		},
		"a payment that ends too late": {
			`[{"transactions":{"where":{"status":"SUCCESS"},"count":1}}]`,
			func(w *fixture) { w.Pending("p1", alice) }, func(w *fixture) { w.Settle() },
			"1 Failed DeadlineExceeded, false 0 transactions",
		},
		"a payment that was pending": {
			`[{"transactions":{"where":{"status":"PENDING"},"count":1}}]`,
			func(w *fixture) { w.Pending("p1", alice) }, func(w *fixture) { w.Settle() },
			"1 Met Met, true 1 transaction",
		},
		"another transaction that comes later": {
			`[{"nothingElse":true},{"transactions":{"where":{"orderRef":"early"},"count":1}}]`,
			func(w *fixture) { pay(w, paid) }, func(w *fixture) { pay(w, late) },
			"1 Met Met, true no other transaction, true 1 transaction",
		},
		"a refund that comes later": {
			`[{"refunds":{"of":"early","total":0}}]`,
			func(w *fixture) { refunded = pay(w, paid) }, func(w *fixture) { w.Refunded(refunded, "refund", 3) },
			"1 Met Met, true 0",
		},
		"an event that is delivered too late": {
			`[{"events":{"state":"delivered","count":1}}]`,
			func(w *fixture) { pay(w, paid) }, func(w *fixture) { attempt(w, ledger.EventDelivered) },
			"1 Failed DeadlineExceeded, false 0 events",
		},
		"an event with an attempt in time": {
			`[{"events":{"state":"queued","count":1,"maxAttempts":1}}]`,
			func(w *fixture) { pay(w, paid); attempt(w, ledger.EventQueued) }, func(w *fixture) { attempt(w, ledger.EventDelivered) },
			"1 Met Met, true 1 event, at most 1 attempt each",
		},
		"an event that was delivered in time": {
			`[{"events":{"state":"delivered","count":1,"maxAttempts":1}}]`,
			func(w *fixture) { pay(w, paid); attempt(w, ledger.EventDelivered) }, func(w *fixture) { pay(w, late) },
			"1 Met Met, true 1 event, at most 1 attempt each",
		},
		"a float that changes later": {
			`[{"float":{"currency":"RWF","equals":1000}}]`, nil, func(w *fixture) { pay(w, late) },
			"1 Failed EvaluatedLate, false 1985, seen too late",
		},
		"a balance that changed in time": {
			`[{"testClient":{"msisdn":"+250788000001","balance":5000}}]`, nil, nil,
			"1 Met Met, true 5000",
		},
		"a balance that changes later": {
			`[{"testClient":{"msisdn":"+250788000001","balance":5000}}]`, nil, func(w *fixture) { pay(w, late) },
			"1 Failed EvaluatedLate, false 4000, seen too late",
		},
		"a line that fails beside one that is unsure": {
			`[{"testClient":{"msisdn":"+250788000001","balance":5000}},{"transactions":{"count":1}}]`, nil, func(w *fixture) { pay(w, late) },
			"1 Failed DeadlineExceeded, false 4000, seen too late, false 0 transactions",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.Client("alice", alice, 5_000)
			w.expect(c.lines)
			if c.before != nil {
				c.before(w)
			}
			w.deadline()
			if c.after != nil {
				c.after(w)
			}
			w.wantEvaluated(c.want)
		})
	}
}

// With a clock, times are those of the sandbox: only the events tell real times.
func TestExpectationOfAClockedSandboxThatIsEvaluatedLate(t *testing.T) {
	const ended, every = `[{"transactions":{"where":{"status":"SUCCESS"},"count":1}}]`, `[{"transactions":{"count":1}}]`
	for name, c := range map[string]struct {
		lines         string
		before, after int
		want          string
	}{
		"ended in time":       {ended, 1, 1, "1 Met Met, true 1 transaction"},
		"ended too late":      {ended, 0, 1, "1 Failed DeadlineExceeded, false 0 transactions"},
		"recorded too late":   {every, 0, 1, "1 Failed EvaluatedLate, false 1 transaction, seen too late"},
		"recorded in time":    {every, 1, 0, "1 Met Met, true 1 transaction"},
		"nothing is recorded": {every, 0, 0, "1 Failed DeadlineExceeded, false 0 transactions"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.Client("alice", alice, 5_000)
			w.RunAhead(-24 * time.Hour)
			w.expect(c.lines)
			for i := range c.before + c.after {
				if i == c.before {
					w.Exec("delete from activity")
					w.deadline()
				}
				w.Create(w.Collection(string(rune('a'+i)), payments.Success, alice))
			}
			if c.after == 0 {
				if err := w.FlushActivity(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.deadline()
			}
			w.wantEvaluated(c.want)
		})
	}
}

// An expectation stays met for as long as it has to, also if something changes before a worker looks.
func TestExpectationThatSettlesUnseen(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	w.expect(paidOnce, func(c *sandboxes.ExpectationConfig) { c.Settle = time.Hour })
	w.Create(w.Collection("r1", payments.Success, alice))
	w.wantEvaluated("1 Open Settling, true 1 transaction, true no other transaction")
	w.Exec("update expectations set settle_ms = 0, due_at = clock_timestamp(), met_since = clock_timestamp()")
	w.Create(w.Collection("r2", payments.Success, alice))
	w.wantEvaluated("1 Met Met, true 1 transaction, true no other transaction")
}

// What came between the creation of an expectation and its first evaluation counts.
func TestExpectationSinceItsCreation(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	w.Create(w.Collection("r0", payments.Success, alice))
	w.expect(paidOnce, func(c *sandboxes.ExpectationConfig) { c.SinceCreation = true })
	w.Create(w.Collection("r1", payments.Success, alice))
	w.wantEvaluated("1 Met Met, true 1 transaction, true no other transaction")
}

// An expectation that took too long to evaluate waits for its time, whatever happens in the sandbox.
func TestExpectationThatTookTooLongWaits(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	w.expect(paidOnce)
	w.evaluated("")
	w.Exec("update expectations set reason = 'TooManyRows'")
	w.Create(w.Collection("r1", payments.Success, alice))
	if got := w.evaluated(""); !cmp.Equal(got[:len("0 Open")], "0 Open") {
		t.Error(got)
	}
}
