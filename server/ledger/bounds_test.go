package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// raise gives the sandbox's float in RWF a balance, as an adjustment.
func (w *fixture) raise(balance int64) {
	w.T.Helper()
	w.Exec(`insert into adjustments (tenant, currency, delta, balance_after, number)
		select tenant, currency, $2 - balance, $2, movements + 1 from floats where tenant = $1 and currency = 'RWF'`, w.Sandbox.Tenant, balance)
	w.Exec("update floats set balance = $2, movements = movements + 1 where tenant = $1 and currency = 'RWF'", w.Sandbox.Tenant, balance)
}

// raiseSIM is raise for a SIM.
func (w *fixture) raiseSIM(msisdn string, balance int64) {
	w.T.Helper()
	w.Exec(`insert into adjustments (tenant, sim_id, delta, balance_after, number)
		select tenant, sim_id, $3 - balance, $3, movements + 1 from sims where tenant = $1 and msisdn = $2`, w.Sandbox.Tenant, msisdn, balance)
	w.Exec("update sims set balance = $3, movements = movements + 1 where tenant = $1 and msisdn = $2", w.Sandbox.Tenant, msisdn, balance)
}

// What would raise a balance beyond its bound ends with LIMIT_EXCEEDED and moves nothing; what just fits succeeds.
func TestBalancesHaveABound(t *testing.T) {
	const room = 985 // what the merchant gets of a collection of 1000
	cases := map[string]struct {
		room int64 // of the account that is credited
		want payments.Status
	}{
		"fits":      {room, payments.Success},
		"too small": {room - 1, payments.LimitExceeded},
		"none":      {0, payments.LimitExceeded},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			paths := map[string]func(*fixture) payments.Status{
				"at once": func(w *fixture) payments.Status {
					w.raise(payments.MaxBalance - c.room)
					return w.Create(w.Collection("r", payments.Success, alice)).Status
				},
				"settled": func(w *fixture) payments.Status {
					w.raise(payments.MaxBalance - c.room)
					made := w.Pending("r", alice)
					w.Settle()
					return w.Get(made.ID).Status
				},
				"answered by hand": func(w *fixture) payments.Status {
					w.raise(payments.MaxBalance - c.room)
					made := w.Pending("r", alice)
					answered, _, err := w.AnswerPrompt(t.Context(), w.Sandbox.Tenant, alice, made.ID, payments.AnswerApprove)
					if err != nil {
						w.T.Fatal(err)
					}
					return answered.Status
				},
				"refunded": func(w *fixture) payments.Status {
					parent := w.Create(w.Collection("parent", payments.Success, alice))
					w.raiseSIM(alice, payments.MaxBalance-c.room)
					made := w.Refunded(parent.ID, "r", room)
					if got := w.Get(parent.ID).Refunded; (got == room) != (c.want == payments.Success) {
						w.T.Errorf("%d of the parent are refunded", got)
					}
					return made.Status
				},
				"disbursed": func(w *fixture) payments.Status {
					w.raiseSIM(alice, payments.MaxBalance-c.room)
					return w.Disburse(w.Disbursement("r", payments.Success, alice, room)).Status
				},
			}
			for path, pay := range paths {
				t.Run(path, func(t *testing.T) {
					w := newFixture(t)
					w.Client("alice", alice, 5000)
					if got := pay(w); got != c.want {
						t.Errorf("it is %s, want %s", got, c.want)
					}
					if got := w.Count(
						"select count(*) from transactions where reference = 'r' and status = $1::transaction_status",
						string(c.want),
					); got != 1 {
						t.Error("it is not recorded so")
					}
					w.Conserved()
				})
			}
		})
	}
}

// Of payments that settle together those succeed that fit.
func TestSettlementFillsAFloatToItsBound(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 100_000)
	w.raise(payments.MaxBalance - 2*985)
	w.Multiply(w.Pending("r", alice), 4)
	w.Settle()
	got := read[[]string](w, "select array_agg(status::text order by status) from transactions")
	want := []string{"SUCCESS", "SUCCESS", "LIMIT_EXCEEDED", "LIMIT_EXCEEDED", "LIMIT_EXCEEDED"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := w.float(payments.RWF); got != payments.MaxBalance {
		t.Errorf("the float has %d", got)
	}
	w.Conserved()
}

// Of payments that are booked together those fail that do not fit, and no others.
func TestBookingsTogetherFillAFloatToItsBound(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 100_000)
	w.raise(payments.MaxBalance - 2*985)
	var all []*ledger.NewCollection
	for i := range 4 {
		all = append(all, w.Collection(fmt.Sprint("r", i), payments.Success, alice))
	}
	errs, _ := w.BookTogether(t.Context(), w.Sandbox.Tenant, all)
	var got []payments.Status
	for i, n := range all {
		if errs[i] != nil {
			t.Error(errs[i])
		}
		got = append(got, n.Transaction.Status)
	}
	if diff := cmp.Diff(
		[]payments.Status{payments.Success, payments.Success, payments.LimitExceeded, payments.LimitExceeded},
		got,
	); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Conserved()
}

func TestDisbursementsTogetherFillASIMToItsBound(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 0)
	w.raise(1_000_000)
	w.raiseSIM(alice, payments.MaxBalance-2000)
	var all []*ledger.NewDisbursement
	for i := range 4 {
		all = append(all, w.Disbursement(fmt.Sprint("r", i), payments.Success, alice, 1000))
	}
	errs, _ := w.DisburseTogether(t.Context(), w.Sandbox.Tenant, all)
	var got []payments.Status
	for i, n := range all {
		if errs[i] != nil {
			t.Error(errs[i])
		}
		got = append(got, n.Transaction.Status)
	}
	if diff := cmp.Diff(
		[]payments.Status{payments.Success, payments.Success, payments.LimitExceeded, payments.LimitExceeded},
		got,
	); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Conserved()
}

// What an operator took is written down with its answer, and moves nothing where the float can take no more.
func TestForwardedCollectionStopsAtTheBound(t *testing.T) {
	w := newFixture(t)
	n := w.Collection("r", payments.Pending, "+2250799000001")
	made := w.Create(n)
	w.raise(payments.MaxBalance)
	leased := w.forwards(time.Hour)
	kept, err := w.SettleForward(
		t.Context(),
		&leased[0],
		ledger.OperatorResult{Status: payments.Success, NativeRaw: []byte(`{"status":"SUCCESSFUL"}`)},
	)
	if err != nil || !kept {
		t.Fatalf("%v, %v", kept, err)
	}
	if got := w.Get(made.ID); got.Status != payments.LimitExceeded || string(got.NativeRaw) != `{"status":"SUCCESSFUL"}` {
		t.Errorf("it is %s with %s", got.Status, got.NativeRaw)
	}
	w.Conserved()
}

// The schema holds the bound, whatever is written.
func TestSchemaBoundsBalances(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	for _, statement := range []string{"update floats set balance = $1", "update sims set balance = $1"} {
		if _, err := w.SQL.Exec(t.Context(), statement, int64(payments.MaxBalance+1)); err == nil {
			t.Errorf("%s: a balance beyond the bound was taken", statement)
		}
		w.Exec(statement, int64(payments.MaxBalance))
	}
}
