package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func (w *fixture) retain() {
	w.t.Helper()
	if err := w.RetainSandbox(w.t.Context(), w.config.UID); err != nil {
		w.t.Fatal(err)
	}
}

func TestRetainedSandboxIsAtRestAndNobodysAnyMore(t *testing.T) {
	w := newFixture(t)
	w.busy()
	c := w.client("alice", alice, 5000)
	w.pending("due", alice)
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := w.tenantTables(w.sandbox.Tenant)
	before["api_keys"], before["operator_credentials"] = 0, 0
	w.retain()
	if diff := cmp.Diff(before, w.tenantTables(w.sandbox.Tenant)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if n := w.count("select count(*) from organizations where signing_secret is not null or previous_secret is not null"); n != 0 {
		t.Error("its signing secret stayed")
	}
	for _, d := range []*sandboxes.Directory{directory, sandboxes.NewDirectory(w.Store.DB)} {
		if err := d.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, known := d.ByKey(w.key); known {
			t.Error("its key still works")
		}
	}
	w.exec("update transactions set due_at = now() where due_at is not null")
	w.due()
	if settled, err := ledgertest.SettleDue(t.Context(), w.Store, 100); err != nil || settled.Claimed != 0 {
		t.Errorf("%d of its payments were settled, %v", settled.Claimed, err)
	}
	if events := w.lease(body()); len(events) != 0 {
		t.Errorf("%d of its events would be sent", len(events))
	}
	if _, err := w.ApplyTestClient(t.Context(), w.config.UID, c); !errors.Is(err, sandboxes.ErrNoOrganization) {
		t.Errorf("a TestClient: %v", err)
	}
	if err := w.DeleteTestClient(t.Context(), c.UID); err != nil {
		t.Fatal(err)
	}
	written := w.written()
	w.retain() // the second finds nothing to do
	if diff := cmp.Diff(written, w.written()); diff != "" {
		t.Errorf("retained again (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before, w.tenantTables(w.sandbox.Tenant)); diff != "" {
		t.Errorf("rows after its TestClient went (-want +got):\n%s", diff)
	}
}

func TestRetainedSandboxGivesItsNameAway(t *testing.T) {
	w := newFixture(t)
	w.client("alice", alice, 5000)
	w.create(w.collection("r1", payments.Success, alice))
	w.retain()
	again := w.beside(w.config.Name)
	again.client("alice", alice, 100)
	if again.sandbox.OrganizationID == w.sandbox.OrganizationID || again.apply().Transactions.Total != 0 {
		t.Error("the new sandbox is the retained one")
	}
	again.retain() // there may be many
	if n := w.count("select count(*) from organizations where namespace = 'team' and name = 'checkout'"); n != 2 {
		t.Errorf("%d organizations were retained under the name, want 2", n)
	}
	w.conserved()
}

func TestRetainSandboxThatIsNotThere(t *testing.T) {
	w := newFixture(t)
	if err := w.RetainSandbox(t.Context(), nobody); err != nil {
		t.Error(err)
	}
	if err := w.RetainSandbox(t.Context(), "checkout"); err == nil {
		t.Error("a UID that is no UUID was taken")
	}
	w.reload()
}

func TestRetainedSandboxesAreRemovedByAge(t *testing.T) {
	w := newFixture(t)
	other, living := w.beside("other"), w.beside("living")
	w.busy()
	w.retain()
	w.exec("update organizations set retained_at = now() - interval '3 days' where tenant = $1", w.sandbox.Tenant)
	other.retain()
	list := func(olderThan time.Duration) (names []string) {
		t.Helper()
		retained, err := w.RetainedSandboxes(t.Context(), olderThan)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range retained {
			names = append(names, r.Namespace+"/"+r.Name+" "+r.UID)
		}
		return names
	}
	first, second := "team/checkout "+w.config.UID, "team/other "+other.config.UID
	if diff := cmp.Diff(
		[][]string{{first, second}, {first}, nil},
		[][]string{list(0), list(48 * time.Hour), list(96 * time.Hour)},
	); diff != "" {
		t.Errorf("retained (-want +got):\n%s", diff)
	}
	if err := w.DeleteSandbox(t.Context(), w.config.UID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{second}, list(0)); diff != "" {
		t.Errorf("after one was removed (-want +got):\n%s", diff)
	}
	living.reload()
}
