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

	"github.com/cauri-dev/cauri/server/ledgertest"
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
	go func() { migrated <- postgres.MigrateFrom(t.Context(), url, "", folder) }()
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

// What another commit left is refused by whoever migrates and by every process, in one line that says what to do, and
// nothing in it changes.
func TestTheSchemaOfAnotherCommitIsRefused(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{
		"without versions": "alter table schema_version rename to goose_db_version",
		"without a digest": "drop table schema_digest",
		"another digest":   "update schema_digest set digest = 'another'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := ledgertest.URL(t)
			sql := ledgertest.Connect(t, url)
			if _, err := sql.Exec(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			for _, as := range []string{url, ledgertest.URLAs(t, url, ledgertest.Controller)} {
				if err := postgres.Migrate(t.Context(), as); !errors.Is(err, postgres.ErrOtherSchema) ||
					errors.Is(err, postgres.ErrUnavailable) || strings.Contains(err.Error(), "\n") {
					t.Errorf("migrating it: %v", err)
				}
			}
			for _, role := range []string{ledgertest.API, ledgertest.Worker, ledgertest.Controller} {
				err := ledgertest.OpenAs(t, url, role).Ping(t.Context())
				if !errors.Is(err, postgres.ErrUnavailable) || postgres.AbsenceOf(err) != postgres.NotMigrated ||
					errors.Is(err, postgres.ErrOtherSchema) == (name == "without versions") {
					t.Errorf("%s: %v", role, err)
				}
			}
			var created bool
			if err := sql.QueryRow(t.Context(), "select count(*) = 2 from unnest(array['schema_version', 'schema_digest']) t(name) "+
				"where to_regclass(name) is not null").Scan(&created); err != nil || created != (name == "another digest") {
				t.Errorf("the tables of the version are there: %t, %v", created, err)
			}
			if _, err := sql.Exec(t.Context(), "drop schema public cascade; create schema public"); err != nil {
				t.Fatal(err)
			}
			if err := postgres.MigrateAs(t.Context(), url, "cauri"); err != nil {
				t.Errorf("what the message says does not help: %v", err)
			}
			if err := ledgertest.OpenAs(t, url, ledgertest.Worker).Ping(t.Context()); err != nil {
				t.Errorf("a process afterwards: %v", err)
			}
		})
	}
}

// Whoever migrates after somebody who was interrupted stores the digest.
func TestDigestIsStoredLater(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	if _, err := ledgertest.Connect(t, url).Exec(t.Context(), "delete from schema_digest"); err != nil {
		t.Fatal(err)
	}
	worker := ledgertest.OpenAs(t, url, ledgertest.Worker)
	if err := worker.Ping(t.Context()); !errors.As(err, new(postgres.ErrSchemaBehind)) {
		t.Errorf("before: %v", err)
	}
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if err := worker.Ping(t.Context()); err != nil {
		t.Errorf("after: %v", err)
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
