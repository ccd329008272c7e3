package sandboxes_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// noted are the sandboxes that something was written down for, and forgets it.
func (w *fixture) noted() []string {
	w.T.Helper()
	if err := w.FlushActivity(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	names := read[[]string](w, "select coalesce(array_agg(name order by name), '{}') from activity join organizations using (tenant)")
	w.Exec("delete from activity")
	return names
}

func TestWhatHappensInASandboxIsWrittenDown(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.beside("other")
	paid := w.Create(w.Collection("paid", payments.Success, alice))
	w.noted()
	cases := []struct {
		what string
		do   func() error
		want []string
	}{
		{"nothing", func() error { return nil }, []string{}},
		{"a payment", func() error { w.Create(w.Collection("r1", payments.Success, alice)); return nil }, []string{"checkout"}},
		{"a failed one", func() error { w.Create(w.Collection("r2", payments.UnknownMSISDN, alice)); return nil }, []string{"checkout"}},
		{"a pending one", func() error { w.Pending("r3", alice); return nil }, []string{"checkout"}},
		{"its settlement", func() error { return second(ledgertest.SettleDue(t.Context(), w.Store, 10)) }, []string{"checkout"}},
		{"nothing to settle", func() error { return second(ledgertest.SettleDue(t.Context(), w.Store, 10)) }, []string{}},
		{"a refund", func() error {
			n := w.Collection("", payments.Pending, alice)
			return third(
				w.CreateRefund(
					t.Context(),
					w.Sandbox.Tenant,
					ledger.NewRefund{RequestHash: n.RequestHash, ID: n.Transaction.ID, ParentID: paid.ID, Details: payments.Details{Reference: "r4"}},
				),
			)
		}, []string{"checkout"}},
		{"a refused reference", func() error {
			if err := w.CreateCollection(t.Context(), w.Sandbox.Tenant, w.Collection("r1", payments.Success, alice)); err == nil {
				t.Error("the reference was taken twice")
			}
			return nil
		}, []string{}},
	}
	for _, c := range cases {
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if diff := cmp.Diff(c.want, w.noted()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

func TestActivityOfASandboxThatIsGoneIsNotWritten(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.UnknownMSISDN, alice))
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	w.noted()
	if n := w.Count("select count(*) from activity"); n != 0 {
		t.Errorf("%d rows were written", n)
	}
}

func TestActivityOutlivesTheDatabasesAbsence(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.UnknownMSISDN, alice))
	w.Exec("alter table activity rename to away")
	if err := w.FlushActivity(t.Context()); err == nil {
		t.Fatal("it was written to a table that is missing")
	}
	w.Exec("alter table away rename to activity")
	if diff := cmp.Diff([]string{"checkout"}, w.noted()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestActivityIsWrittenOnceMoreAtTheEnd(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.UnknownMSISDN, alice))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.RunActivity(ctx)
	if n := w.Count("select count(*) from activity"); n != 1 {
		t.Error("what happened last was not written")
	}
}

func TestChangesAreNamedOnceForEachResource(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	gone := w.beside("gone")
	gone.retain()
	at := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	changed := func(steps ...string) []sandboxes.AccountChange {
		t.Helper()
		for _, sql := range steps {
			w.Exec(sql, at)
		}
		changes, _, err := w.ChangedAccounts(t.Context(), at.Add(-time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		for i := range changes {
			changes[i].ChangedAt = changes[i].ChangedAt.UTC()
		}
		return changes
	}
	sandbox := sandboxes.AccountChange{Namespace: "team", Sandbox: "checkout", ChangedAt: at.UTC()}
	sim := sandbox
	sim.TestClient = "alice"
	if diff := cmp.Diff([]sandboxes.AccountChange{}, changed()); diff != "" {
		t.Errorf("nothing (-want +got):\n%s", diff)
	}
	for _, sql := range []string{
		"update floats set changed_at = $1",
		"insert into activity select tenant, $1 from organizations",
		"insert into endpoint_health (tenant, changed_at) select tenant, $1 from organizations",
	} {
		if diff := cmp.Diff([]sandboxes.AccountChange{sandbox}, changed(sql)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sql, diff)
		}
	}
	if diff := cmp.Diff([]sandboxes.AccountChange{sandbox, sim}, changed("update sims set changed_at = $1")); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
}
