package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A program on a database that is not migrated as far as it needs waits, and goes on by itself; one that is older than the schema
// does not wait.
func TestSchemaIsAwaited(t *testing.T) {
	t.Parallel()
	url := ledgertest.Empty(t)
	if err := postgres.MigrateAs(t.Context(), ledgertest.Empty(t), "cauri"); err != nil { // makes the roles, which belong to the server
		t.Fatal(err)
	}
	for _, role := range []string{ledgertest.API, ledgertest.Worker} {
		s := ledgertest.OpenAs(t, url, role)
		if err := s.CheckSchema(t.Context()); !errors.Is(err, postgres.ErrUnavailable) || !strings.Contains(err.Error(), "cauri migrate") {
			t.Errorf("%s: without a schema: %v", role, err)
		}
		if err := sandboxes.NewDirectory(s.DB).Refresh(t.Context()); !errors.Is(err, postgres.ErrUnavailable) {
			t.Errorf("%s: the configuration without a schema: %v", role, err)
		}
	}
	stranger, err := postgres.Open(loginAt(t, url, "nobody_of_that_name", "anything"), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if err := stranger.CheckSchema(
		t.Context(),
	); !errors.Is(err, postgres.ErrUnavailable) ||
		!strings.Contains(err.Error(), "refuses the login") {
		t.Errorf("a user that is not there: %v", err)
	}
	waiting := ledgertest.OpenAs(t, url, ledgertest.Worker)
	over := make(chan error, 1)
	go func() { over <- waiting.AwaitSchema(t.Context(), 10*time.Millisecond) }()
	if err := postgres.MigrateAs(t.Context(), url, "cauri"); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil {
		t.Errorf("it waits in vain: %v", err)
	}
	newest := postgres.NewestSchema()
	for _, c := range []struct {
		needs int64
		says  string
	}{{newest, ""}, {newest - 1, ""}, {newest + 1, "needs"}} {
		for _, role := range []string{ledgertest.API, ledgertest.Worker} {
			s := ledgertest.OpenAs(t, url, role)
			s.NeedSchema(c.needs)
			err := s.CheckSchema(t.Context())
			if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, postgres.ErrUnavailable) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%s that needs version %d of %d: %v", role, c.needs, newest, err)
			}
			if role == ledgertest.API { // it serves nobody by tables that it does not know
				if err := sandboxes.NewDirectory(s.DB).Refresh(t.Context()); (err == nil) != (c.says == "") {
					t.Errorf("an api that needs version %d of %d: the configuration: %v", c.needs, newest, err)
				}
			}
			if err := s.Ping(t.Context()); (err == nil) != (c.says == "") {
				t.Errorf("%s that needs version %d of %d: ping says %v", role, c.needs, newest, err)
			}
		}
	}
}

// A release that is rolled back finds a schema that is newer than it knows, and leaves it.
func TestOlderProgramLeavesANewerSchema(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	sql := ledgertest.Connect(t, url)
	if _, err := sql.Exec(
		t.Context(),
		"insert into schema_version (version_id, is_applied) values ($1, true)",
		postgres.NewestSchema()+1,
	); err != nil {
		t.Fatal(err)
	}
	if err := postgres.MigrateAs(t.Context(), url, "cauri"); err != nil {
		t.Error(err)
	}
	var version int64
	if err := sql.QueryRow(t.Context(), postgres.SchemaVersion).Scan(&version); err != nil || version != postgres.NewestSchema()+1 {
		t.Errorf("the schema has version %d now, %v", version, err)
	}
	if err := ledgertest.OpenAs(t, url, ledgertest.API).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// The controller's own attempt to migrate finds nothing to do, and needs no more rights than it has.
func TestControllerMayLookForMigrations(t *testing.T) {
	t.Parallel()
	if err := postgres.Migrate(t.Context(), ledgertest.URLAs(t, ledgertest.URL(t), ledgertest.Controller)); err != nil {
		t.Error(err)
	}
}

// The processes read the version of the schema, and none of them writes it.
func TestVersionIsReadOnly(t *testing.T) {
	t.Parallel()
	sql := ledgertest.Connect(t, ledgertest.URL(t))
	for _, role := range []string{ledgertest.API, ledgertest.Worker, ledgertest.Controller} {
		for _, privilege := range []string{"select", "insert", "update", "delete", "truncate"} {
			var may bool
			if err := sql.QueryRow(t.Context(), "select has_table_privilege($1, 'schema_version', $2)", role, privilege).Scan(&may); err != nil {
				t.Fatal(err)
			}
			if may != (privilege == "select") {
				t.Errorf("%s may %s: %t", role, privilege, may)
			}
		}
	}
}
