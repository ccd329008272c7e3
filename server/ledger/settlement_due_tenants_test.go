package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// settleSome settles a batch of what is due.
func (w *fixture) settleSome(batch int) ledger.BatchCounts {
	w.T.Helper()
	counts, err := ledgertest.SettleDue(w.T.Context(), w.Store, batch)
	if err != nil {
		w.T.Fatal(err)
	}
	return counts
}

func (w *fixture) unsettled() int {
	w.T.Helper()
	return w.Count("select count(*) from transactions where tenant = $1 and status = 'PENDING'", w.Sandbox.Tenant)
}

func TestBatchIsFilledFromOneSandbox(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 1_000_000)
	w.Multiply(w.Pending("r", alice), 249)
	for i, want := range []ledger.BatchCounts{{Claimed: 100, More: true}, {Claimed: 100, More: true}, {Claimed: 50}, {}} {
		if diff := cmp.Diff(want, w.settleSome(100)); diff != "" {
			t.Errorf("batch %d (-want +got):\n%s", i, diff)
		}
	}
	w.Conserved()
}

// A long queue delays nobody else: every sandbox that has something due gives no more than is asked of it.
func TestBatchIsSharedBetweenSandboxes(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 1_000_000)
	w.Multiply(w.Pending("r", alice), 999)
	w.Exec("update transactions set due_at = due_at - interval '1 hour'")
	late, later := w.beside("late"), w.beside("later")
	for _, other := range []*fixture{late, later} {
		other.Client("alice", alice, 1_000_000)
		other.Multiply(other.Pending("r", alice), 1)
	}
	if diff := cmp.Diff(ledger.BatchCounts{Claimed: 37, More: true}, w.settleSome(33)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{967, 0, 0}, []int{w.unsettled(), late.unsettled(), later.unsettled()}); diff != "" {
		t.Errorf("left in each sandbox (-want +got):\n%s", diff)
	}
	w.Conserved()
}

// The sandboxes that are named are settled, and no others.
func TestOnlyTheNamedSandboxesAreSettled(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	for _, w := range []*fixture{w, other} {
		w.Client("alice", alice, 5000)
		w.Pending("r", alice)
	}
	if due, err := w.TenantsToSettle(t.Context()); err != nil || len(due) != 2 {
		t.Errorf("%v have something due, %v, want both", due, err)
	}
	if got, err := w.SettleDue(t.Context(), []queues.DueTenant{{Tenant: other.Sandbox.Tenant}}, 10); err != nil || got.Claimed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff([]int{1, 0}, []int{w.unsettled(), other.unsettled()}); diff != "" {
		t.Errorf("left in each sandbox (-want +got):\n%s", diff)
	}
	if due, err := w.TenantsToSettle(t.Context()); err != nil || !slices.Equal(due, []queues.DueTenant{{Tenant: w.Sandbox.Tenant}}) {
		t.Errorf("%v have something due then, %v", due, err)
	}
}

func TestSuspendedSandboxSettlesAndExpiresNothing(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.Client("bob", "+250788000002", 5000, behaves(payments.Manual))
	paid, expired := w.Pending("r1", alice), w.Pending("r2", "+250788000002")
	w.Exec("update transactions set due_at = now(), expires_at = now() where id = $1", postgres.UUID(expired.ID))
	other := w.beside("other")
	other.Client("alice", alice, 5000)
	other.Pending("r1", alice)
	w.Config.Suspended = true
	w.Apply()
	if got := w.Settle(); got.Claimed != 1 || other.unsettled() != 0 {
		t.Errorf("%+v were settled beside the suspended sandbox, want the one of the other", got)
	}
	if got := w.unsettled(); got != 2 {
		t.Errorf("%d payments of the suspended sandbox are pending, want 2", got)
	}
	w.Config.Suspended = false
	w.Apply()
	w.Settle()
	for id, want := range map[payments.ID]payments.Status{paid.ID: payments.Success, expired.ID: payments.Timeout} {
		if got := w.Get(id).Status; got != want {
			t.Errorf("after it was resumed: %s, want %s", got, want)
		}
	}
	w.Conserved()
}

// The event of a settled payment is due at once.
func TestEventOfASettledPaymentIsDue(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.Pending("r1", alice)
	w.Settle()
	if got := w.Count(
		"select count(*) from events e join transactions t using (tenant, id) where e.state = 'queued' and e.due_at = t.completed_at",
	); got != 1 {
		t.Error("its event is not due when it is completed")
	}
}

// Whatever makes a payment lose its due time, it ends. One that an operator decides is looked at once more, too.
func TestForgottenPaymentsAreWoken(t *testing.T) {
	const over, justOver = "now() - interval '61 seconds'", "now() - interval '59 seconds'"
	cases := map[string]struct {
		due, expires string
		woken        bool
	}{
		"no due time":                       {"null", over, true},
		"due in a distant future":           {"now() + interval '1 day'", over, true},
		"due within a minute, like a lease": {"now() + interval '30 seconds'", over, false},
		"due already":                       {"now() - interval '1 second'", over, false},
		"its time has just run out":         {"null", justOver, false},
		"its time has not run out":          {"null", "now() + interval '1 hour'", false},
		"parked":                            {"expires_at", "now() + interval '1 hour'", false},
	}
	w := newFixture(t)
	w.Client("alice", alice, 5000, behaves(payments.Ignore))
	made := map[string]*payments.Transaction{}
	for name, c := range cases {
		for _, msisdn := range []string{alice, "+2250799000001"} {
			n := w.Collection(name+" "+msisdn, payments.Pending, msisdn)
			n.AnswerAfter = time.Hour
			made[n.Transaction.Reference] = w.Create(n)
			w.Exec("update transactions set expires_at = "+c.expires+" where reference = $1", n.Transaction.Reference)
			w.Exec("update transactions set due_at = "+c.due+" where reference = $1", n.Transaction.Reference)
		}
	}
	before := read[[]string](w, "select array_agg(reference) from transactions where due_at <= now()")
	if woken, err := w.RequeueStuck(t.Context(), 100); err != nil || woken != 4 {
		t.Errorf("%d were woken, %v, want 4", woken, err)
	}
	after := read[[]string](w, "select array_agg(reference) from transactions where due_at <= now()")
	for name, c := range cases {
		for _, msisdn := range []string{alice, "+2250799000001"} {
			if woken := slices.Contains(after, name+" "+msisdn) && !slices.Contains(before, name+" "+msisdn); woken != c.woken {
				t.Errorf("%s of %s: woken %v, want %v", name, msisdn, woken, c.woken)
			}
		}
	}
	w.Settle()
	for name, c := range cases {
		if got := w.Get(made[name+" "+alice].ID).Status; (got == payments.Timeout) != (c.woken || name == "due already") {
			t.Errorf("%s: it is %s then", name, got)
		}
	}
	w.Conserved()
}

func TestForgottenPaymentsAreWokenInBatches(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.Multiply(w.Pending("r", alice), 24)
	w.Exec("update transactions set due_at = null, expires_at = now() - interval '1 hour'")
	for _, want := range []int{10, 10, 5, 0} {
		if got, err := w.RequeueStuck(t.Context(), 10); err != nil || got != want {
			t.Errorf("%d were woken, %v, want %d", got, err, want)
		}
	}
	if got := w.Settle(); got.Claimed != 25 {
		t.Errorf("%d were due then", got.Claimed)
	}
	w.Conserved()
}
