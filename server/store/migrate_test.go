package store_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/server/store/storetest"
)

// Processes work while the schema is migrated. Where one of them and the migration wait for each other's locks, Postgres ends the
// migration, which begins anew.
func TestMigrationOutlivesADeadlock(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	rollBack(t, url, 6) // the next one changes organizations, and then sims
	process, watch := storetest.Connect(t, url), storetest.Connect(t, url)
	run := func(conn *pgx.Conn, sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	run(process, "set deadlock_timeout = '1h'") // the migration finds the deadlock, and ends
	run(process, "begin; select from sims")
	migrated := make(chan error, 1)
	go func() { migrated <- store.Migrate(t.Context(), url) }()
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
}

// rollBack brings the schema of a database back to a version.
func rollBack(t *testing.T, url string, version int64) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	conn := stdlib.OpenDB(*config)
	defer func() { _ = conn.Close() }()
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, os.DirFS("../postgres/migrations"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}
