package store_test

import (
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/server/store/storetest"
)

// A statement that had passed its gate when the sandbox was deleted may still write afterwards.
func TestWhatWasWrittenDuringADeletionIsPurgedLater(t *testing.T) {
	w := newWorld(t)
	w.create(w.collection("r1", payments.UnknownMSISDN, alice))
	w.exec("create table late as select * from transactions")
	if err := w.DeleteSandbox(t.Context(), w.config.UID); err != nil {
		t.Fatal(err)
	}
	w.exec("insert into transactions select * from late")

	purge := func() {
		t.Helper()
		if err := w.PurgeRetired(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	purge()
	if n := w.count("select count(*) from transactions"); n != 1 {
		t.Fatalf("%d transactions are left: the purge did not wait until nothing can be written any more", n)
	}
	w.exec("update retired_tenants set retired_at = now() - interval '1 hour'")
	purge()
	if n := w.count("select count(*) from transactions"); n != 0 {
		t.Errorf("%d transactions are left", n)
	}
	if n := w.count("select count(*) from retired_tenants where purged_at is not null"); n != 1 {
		t.Error("the tenant is not marked as purged")
	}
	w.exec("update retired_tenants set retired_at = now() - interval '2 days'")
	purge()
	if n := w.count("select count(*) from retired_tenants"); n != 0 {
		t.Error("a tenant that was retired long ago is still remembered")
	}
}

// A directory that could not read for longer than retired tenants are remembered reads everything anew.
func TestDirectoryForgetsWhatWasRetiredWhileItCouldNotRead(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	s, err := store.Open(w.url, store.Options{KeyRing: storetest.KeyRing(t), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	directory := store.NewDirectory(s)
	refresh := func() {
		t.Helper()
		if err := directory.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	refresh()
	if err := w.DeleteSandbox(t.Context(), w.config.UID); err != nil {
		t.Fatal(err)
	}
	w.exec("delete from retired_tenants")
	now = now.Add(24 * time.Hour)
	refresh()
	if _, known := directory.ByKey(w.key); known {
		t.Error("the key of a sandbox that is gone still works")
	}
}
