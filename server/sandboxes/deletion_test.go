package sandboxes_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestDeletedSandboxLeavesNothingAndTouchesNobody(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	w.Busy()
	other.Busy()
	w.Multiply(w.Pending("many", alice), 5100) // more than one batch of the purge
	ofOther, config := other.TenantTables(other.Sandbox.Tenant), other.configurationOf(other.Sandbox.Tenant)
	directory := sandboxes.NewDirectory(w.Store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds nothing to do
		if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
			t.Fatal(err)
		}
		for table, rows := range w.TenantTables(w.Sandbox.Tenant) {
			if rows != 0 {
				t.Errorf("%d rows are left in %s", rows, table)
			}
		}
	}
	if diff := cmp.Diff(ofOther, other.TenantTables(other.Sandbox.Tenant)); diff != "" {
		t.Errorf("rows of the other sandbox (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(config, other.configurationOf(other.Sandbox.Tenant)); diff != "" {
		t.Errorf("the other sandbox (-before +after):\n%s", diff)
	}
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := directory.ByKey(w.Key); ok {
		t.Error("the key still works")
	}
	if _, ok := directory.ByKey(other.Key); !ok {
		t.Error("the other sandbox's key does not work")
	}
	if err := w.ApplyCredentials(
		t.Context(),
		w.Config.UID,
		sandboxes.Credentials{SigningSecret: secret},
	); !errors.Is(
		err,
		sandboxes.ErrNoOrganization,
	) {
		t.Errorf("applying credentials to it: %v", err)
	}
}

// configurationOf is every row of one sandbox.
func (w *fixture) configurationOf(tenant int64) map[string]string {
	w.T.Helper()
	all := map[string]string{}
	for table := range w.TenantTables(tenant) {
		all[table] = read[string](
			w,
			"select coalesce(string_agg(x::text, E'\n' order by x::text), '') from "+table+" x where tenant = $1",
			tenant,
		)
	}
	return all
}

func TestDeleteSandboxThatIsNotThere(t *testing.T) {
	w := newFixture(t)
	before := w.Written()
	if err := w.DeleteSandbox(t.Context(), nobody); err != nil {
		t.Error(err)
	}
	if err := w.DeleteSandbox(t.Context(), "checkout"); err == nil {
		t.Error("a UID that is no UUID was taken")
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

// A deletion that is broken off, here by a table that is locked, is finished by the next call; the keys are dead at once.
func TestDeleteSandboxIsFinishedByTheNextCall(t *testing.T) {
	for _, table := range []string{"environments", "sims", "delivery_attempts", "transactions"} {
		t.Run(table, func(t *testing.T) {
			w := newFixture(t)
			w.Busy()
			err := pgx.BeginFunc(t.Context(), w.SQL, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), "select from "+table+" for update"); err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				result := make(chan error)
				go func() { result <- w.DeleteSandbox(ctx, w.Config.UID) }()
				waiting := func() int {
					return w.Count("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
				}
				ledgertest.Eventually(t, func() bool { return waiting() > 0 })
				cancel()
				if err := <-result; !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				ledgertest.Eventually(t, func() bool { return waiting() == 0 }) // the lock goes only after the statement that waits for it
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			directory := sandboxes.NewDirectory(w.Store.DB)
			if err := directory.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, ok := directory.ByKey(w.Key); ok {
				t.Error("the key still works")
			}
			rows := func() int { return slices.Max(slices.Collect(maps.Values(w.TenantTables(w.Sandbox.Tenant)))) }
			if rows() == 0 {
				t.Fatal("the deletion was not broken off")
			}
			if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
				t.Fatal(err)
			}
			if rows() != 0 {
				t.Errorf("rows are left: %v", w.TenantTables(w.Sandbox.Tenant))
			}
		})
	}
}
