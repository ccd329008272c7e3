package sandboxes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A statement that had passed its version check when the sandbox was deleted may still write afterwards.
func TestWhatWasWrittenDuringADeletionIsPurgedLater(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.UnknownMSISDN, alice))
	w.Exec("create table late as select * from transactions")
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	w.Exec("insert into transactions select * from late")

	purge := func() {
		t.Helper()
		if err := w.PurgeRetired(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	purge()
	if n := w.Count("select count(*) from transactions"); n != 1 {
		t.Fatalf("%d transactions are left: the purge did not wait until nothing can be written any more", n)
	}
	w.Exec("update retired_tenants set retired_at = now() - interval '1 hour'")
	purge()
	if n := w.Count("select count(*) from transactions"); n != 0 {
		t.Errorf("%d transactions are left", n)
	}
	if n := w.Count("select count(*) from retired_tenants where purged_at is not null"); n != 1 {
		t.Error("the tenant is not marked as purged")
	}
	w.Exec("update retired_tenants set retired_at = now() - interval '2 days'")
	purge()
	if n := w.Count("select count(*) from retired_tenants"); n != 0 {
		t.Error("a tenant that was retired long ago is still remembered")
	}
}

// A directory that could not read for longer than retired tenants are remembered reads everything again.
func TestDirectoryForgetsWhatWasRetiredWhileItCouldNotRead(t *testing.T) {
	w := newFixture(t)
	now := time.Now()
	s, err := ledgertest.OpenWith(
		w.URL,
		ledgertest.Options{KeyRing: ledgertest.KeyRing(t), Options: postgres.Options{Now: func() time.Time { return now }}},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	directory := sandboxes.NewDirectory(s.DB)
	refresh := func() {
		t.Helper()
		if err := directory.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	refresh()
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	w.Exec("delete from retired_tenants")
	now = now.Add(24 * time.Hour)
	refresh()
	if _, known := directory.ByKey(w.Key); known {
		t.Error("the key of a sandbox that is gone still works")
	}
}

// A deletion that takes long gives its caller back, here because of a row that is locked, and goes on with the next call.
func TestDeletionIsBounded(t *testing.T) {
	w := newFixture(t)
	w.Create(w.Collection("r1", payments.UnknownMSISDN, alice))
	tx, err := w.SQL.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), "select from transactions for update"); err != nil {
		t.Fatal(err)
	}
	for within := 200 * time.Millisecond; ; within *= 4 { // a slow machine may need more to come to the locked row
		err := w.Opened(ledgertest.Options{DeletionTime: within}).DeleteSandbox(t.Context(), w.Config.UID)
		if !errors.Is(err, sandboxes.ErrDeletionUnfinished) || errors.Is(err, postgres.ErrUnavailable) {
			t.Fatalf("got %v, want ErrDeletionUnfinished", err)
		}
		if w.Count("select count(*) from api_keys") == 0 {
			break
		}
		if within > time.Minute {
			t.Fatal("the key is still there")
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Error(err)
	}
	if n := w.Count("select count(*) from transactions"); n != 0 {
		t.Errorf("%d transactions are left", n)
	}
}

// Several workers purge one tenant, and none marks it as purged while rows of it are left.
func TestManyWorkersPurgeOneTenant(t *testing.T) {
	w := newFixture(t)
	w.Multiply(w.Pending("many", alice), 20_000)
	w.Exec(
		"insert into delivery_attempts (tenant, event_id, attempt, started_at, duration_ms) select tenant, id, 1, now(), 1 from transactions",
	)
	w.Exec(
		"with gone as (delete from organizations returning tenant, resource_uid) insert into retired_tenants (tenant, resource_uid, version, retired_at) select tenant, resource_uid, 1, now() - interval '1 hour' from gone",
	)
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			if err := w.PurgeRetired(t.Context()); err != nil {
				t.Error(err)
			}
			// Whoever comes to the end knows that there is nothing left, whatever the others still do.
			if n := w.Count("select (select count(*) from transactions) + (select count(*) from delivery_attempts)"); n != 0 {
				t.Errorf("%d rows are left", n)
			}
		})
	}
	workers.Wait()
}
