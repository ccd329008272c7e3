package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Processes work while the schema is migrated. Where one of them and the migration wait for each other's locks, Postgres ends the
// migration, which begins again.
func TestMigrationOutlivesADeadlock(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	process, watch := ledgertest.Connect(t, url), ledgertest.Connect(t, url)
	run := func(conn *pgx.Conn, sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	run(process, "set deadlock_timeout = '1h'") // the migration finds the deadlock, and ends
	run(process, "begin; select from sims")
	migrated := make(chan error, 1)
	next := fmt.Sprintf("%05d_next.sql", postgres.NewestSchema()+1)
	folder := fstest.MapFS{
		next: {Data: []byte("-- +goose Up\nalter table organizations add column color text;\nalter table sims add column color text;\n")},
	}
	go func() { migrated <- postgres.MigrateFrom(t.Context(), url, folder) }()
	waits := "select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock' and relation = 'sims'::regclass"
	for ctx, cancel := context.WithTimeout(t.Context(), time.Minute); ; {
		var n int
		if err := watch.QueryRow(ctx, waits).Scan(&n); err != nil {
			cancel()
			t.Fatal(err)
		}
		if n > 0 {
			cancel()
			break
		}
	}
	run(process, "select from organizations; commit")
	if err := <-migrated; err != nil {
		t.Error(err)
	}
	var version int64
	if err := watch.QueryRow(t.Context(), postgres.SchemaVersion).Scan(&version); err != nil || version != postgres.NewestSchema()+1 {
		t.Errorf("the schema has version %d, %v", version, err)
	}
}

// An unreleased version had migrations under the same numbers. What they left is refused, and nothing in it changes.
func TestTablesOfAnUnreleasedVersionAreRefused(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	sql := ledgertest.Connect(t, url)
	if _, err := sql.Exec(t.Context(), "alter table schema_version rename to goose_db_version"); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"", ledgertest.Controller} {
		as := url
		if role != "" {
			as = ledgertest.URLAs(t, url, role)
		}
		if err := postgres.Migrate(
			t.Context(),
			as,
		); err == nil || errors.Is(err, postgres.ErrUnavailable) ||
			!strings.Contains(err.Error(), "use an empty database") {
			t.Errorf("as %q: %v", role, err)
		}
	}
	var created bool
	if err := sql.QueryRow(t.Context(), "select to_regclass('schema_version') is not null").Scan(&created); err != nil || created {
		t.Errorf("a table of versions was created: %t, %v", created, err)
	}
	if _, err := sql.Exec(t.Context(), "drop schema public cascade; create schema public"); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Errorf("what the message says does not help: %v", err)
	}
}

func TestMigrateIsSafeToRepeatAndToRaceWithItself(t *testing.T) {
	t.Parallel()
	url := ledgertest.Empty(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := postgres.Migrate(t.Context(), url); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := ledgertest.Open(t, url).ApplySandbox(t.Context(), sandboxes.Config{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "a", Name: "b",
	}); err != nil {
		t.Fatal(err)
	}
}
