package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
)

// While Postgres refuses the connections of a process, the database is unavailable, and nothing of what the process wanted to write
// is recorded. Each message says why.
func TestRefusedLoginIsUnavailable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statement string // with ROLE and DATABASE
		absence   postgres.Absence
		says      string
	}{
		"another password":     {"alter role ROLE password 'rotated'", postgres.Refused, "password authentication failed"},
		"no password any more": {"alter role ROLE password null", postgres.Refused, "password authentication failed"},
		"an expired password":  {"alter role ROLE valid until 'yesterday'", postgres.Refused, "password authentication failed"},
		"no right to log in":   {"alter role ROLE nologin", postgres.Refused, "not permitted to log in"},
		"no right to connect":  {"revoke connect on database DATABASE from public", postgres.Refused, "permission denied for database"},
		"no such role":         {"drop role ROLE", postgres.Refused, "password authentication failed"},
		"no such database": {
			"select pg_terminate_backend(pid) from pg_stat_activity where datname = 'DATABASE'; alter database DATABASE rename to DATABASE_renamed",
			postgres.Refused, "does not exist",
		},
		"no connections to it":       {"alter database DATABASE allow_connections false", postgres.Refused, "not currently accepting"},
		"no connections of the role": {"alter role ROLE connection limit 0", postgres.Exhausted, "too many connections for role"},
		"no connections left for it": {"alter database DATABASE connection limit 0", postgres.Exhausted, "too many connections for database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := ledgertest.AdminURL(t)
			database, admin := ledgertest.URL(t), ledgertest.Connect(t, server)
			role := someRole(t, "refused", server)
			config, err := pgx.ParseConfig(database)
			if err != nil {
				t.Fatal(err)
			}
			name := config.Database
			t.Cleanup(func() { afterwards(t, server, "drop database if exists "+name+"_renamed with (force)") })
			run := func(statement string) {
				t.Helper()
				if _, err := admin.Exec(t.Context(), strings.NewReplacer("ROLE", role, "DATABASE", name).Replace(statement)); err != nil {
					t.Fatal(err)
				}
			}
			run("create role ROLE login password 'first' in role cauri_worker")
			at := loginAt(t, database, role, "first")
			db := open(t, at)
			if err := db.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			run(c.statement)
			postgres.Forget(db)
			_, err = db.Unscoped().Exec(t.Context(), "select 1")
			if err := postgres.ClassifyWrite(err, "writing"); errors.Is(err, postgres.ErrUncertain) {
				t.Errorf("what was never sent may be recorded: %v", err)
			}
			for what, err := range map[string]error{
				"a statement": postgres.Classify(err, "reading"), "a probe": db.Ping(t.Context()), "the first probe": open(t, at).Ping(t.Context()),
				"a migration": postgres.Migrate(t.Context(), at), "users": postgres.EnsureUsers(t.Context(), at, nil),
			} {
				if !errors.Is(err, postgres.ErrUnavailable) || postgres.AbsenceOf(err) != c.absence || !strings.Contains(err.Error(), c.says) ||
					strings.Contains(err.Error(), "run `cauri migrate`") {
					t.Errorf("%s: absence %d, %v", what, postgres.AbsenceOf(err), err)
				}
			}
		})
	}
}

// A connection that Postgres ends is no error of the statement, whatever the reason.
func TestEndedConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	for name, statement := range map[string]string{
		"by an administrator":           "select pg_terminate_backend(pg_backend_pid())",
		"idle in a transaction":         "begin; set local idle_in_transaction_session_timeout = 1; select pg_sleep(0)",
		"idle":                          "set idle_session_timeout = 1",
		"a statement that was canceled": "select pg_cancel_backend(pg_backend_pid()), pg_sleep(60)",
	} {
		conn := ledgertest.Connect(t, database)
		_, err := conn.Exec(t.Context(), statement)
		for err == nil && t.Context().Err() == nil { // the server may take a moment to notice
			_, err = conn.Exec(context.Background(), "select pg_sleep(0.01)")
		}
		if err := postgres.Classify(err, "asking"); !errors.Is(err, postgres.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func open(t *testing.T, url string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}
