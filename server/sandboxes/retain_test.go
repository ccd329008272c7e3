package sandboxes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func (w *fixture) retain() {
	w.T.Helper()
	if err := w.RetainSandbox(w.T.Context(), w.Config.UID); err != nil {
		w.T.Fatal(err)
	}
}

func TestRetainedSandboxIsAtRestAndNobodysAnyMore(t *testing.T) {
	w := newFixture(t)
	w.Busy()
	c := w.Client("alice", alice, 5000)
	w.Pending("due", alice)
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := w.TenantTables(w.Sandbox.Tenant)
	before["api_keys"], before["operator_credentials"] = 0, 0
	w.retain()
	if diff := cmp.Diff(before, w.TenantTables(w.Sandbox.Tenant)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if n := w.Count("select count(*) from organizations where signing_secret is not null or previous_secret is not null"); n != 0 {
		t.Error("its signing secret stayed")
	}
	for _, d := range []*sandboxes.Directory{directory, sandboxes.NewDirectory(w.Store.DB)} {
		if err := d.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, known := d.ByKey(w.Key); known {
			t.Error("its key still works")
		}
	}
	w.Exec("update transactions set due_at = now() where due_at is not null")
	w.Due()
	if settled, err := ledgertest.SettleDue(t.Context(), w.Store, 100); err != nil || settled.Claimed != 0 {
		t.Errorf("%d of its payments were settled, %v", settled.Claimed, err)
	}
	if events := w.Lease(ledgertest.Body()); len(events) != 0 {
		t.Errorf("%d of its events would be sent", len(events))
	}
	if _, err := w.ApplyTestClient(t.Context(), w.Config.UID, c); !errors.Is(err, sandboxes.ErrNoOrganization) {
		t.Errorf("a TestClient: %v", err)
	}
	if err := w.DeleteTestClient(t.Context(), c.UID); err != nil {
		t.Fatal(err)
	}
	written := w.Written()
	w.retain() // the second finds nothing to do
	if diff := cmp.Diff(written, w.Written()); diff != "" {
		t.Errorf("retained again (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before, w.TenantTables(w.Sandbox.Tenant)); diff != "" {
		t.Errorf("rows after its TestClient went (-want +got):\n%s", diff)
	}
}

func TestRetainedSandboxGivesItsNameAway(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	w.Create(w.Collection("r1", payments.Success, alice))
	w.retain()
	again := w.beside(w.Config.Name)
	again.Client("alice", alice, 100)
	if again.Sandbox.OrganizationID == w.Sandbox.OrganizationID || again.Apply().Transactions.Total != 0 {
		t.Error("the new sandbox is the retained one")
	}
	again.retain() // there may be many
	if n := w.Count("select count(*) from organizations where namespace = 'team' and name = 'checkout'"); n != 2 {
		t.Errorf("%d organizations were retained under the name, want 2", n)
	}
	w.Conserved()
}

func TestRetainSandboxThatIsNotThere(t *testing.T) {
	w := newFixture(t)
	if err := w.RetainSandbox(t.Context(), nobody); err != nil {
		t.Error(err)
	}
	if err := w.RetainSandbox(t.Context(), "checkout"); err == nil {
		t.Error("a UID that is no UUID was taken")
	}
	w.Reload()
}

func TestRetainedSandboxesAreRemovedByAge(t *testing.T) {
	w := newFixture(t)
	other, living := w.beside("other"), w.beside("living")
	w.Busy()
	w.retain()
	w.Exec("update organizations set retained_at = now() - interval '3 days' where tenant = $1", w.Sandbox.Tenant)
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
	first, second := "team/checkout "+w.Config.UID, "team/other "+other.Config.UID
	if diff := cmp.Diff(
		[][]string{{first, second}, {first}, nil},
		[][]string{list(0), list(48 * time.Hour), list(96 * time.Hour)},
	); diff != "" {
		t.Errorf("retained (-want +got):\n%s", diff)
	}
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{second}, list(0)); diff != "" {
		t.Errorf("after one was removed (-want +got):\n%s", diff)
	}
	living.Reload()
}
