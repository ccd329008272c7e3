package postgres_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
)

// someRole is a name that no other test has. The role goes when the test ends, after the databases that it owns something in.
func someRole(t *testing.T, name, database string) string {
	t.Helper()
	name = fmt.Sprintf("users_test_%s_%d", name, time.Now().UnixNano())
	t.Cleanup(func() { afterwards(t, database, "drop role if exists "+name) })
	return name
}

// afterwards runs a statement when the test has ended.
func afterwards(t *testing.T, database, statement string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}

// What is sent for a password is what Postgres itself would keep of it.
func TestVerifierIsPostgresOwn(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	sql, role := ledgertest.Connect(t, database), someRole(t, "verifier", database)
	const password = `it's "quoted" \ and = $1`
	if _, err := sql.Exec(t.Context(), "set password_encryption = 'scram-sha-256'"); err != nil {
		t.Fatal(err)
	}
	if _, err := sql.Exec(t.Context(), "create role "+role+" password '"+strings.ReplaceAll(password, "'", "''")+"'"); err != nil {
		t.Fatal(err)
	}
	var kept string
	if err := sql.QueryRow(t.Context(), "select rolpassword from pg_authid where rolname = $1", role).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	encoded, _, _ := strings.Cut(strings.TrimPrefix(kept, "SCRAM-SHA-256$4096:"), "$")
	salt, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := postgres.ScramVerifier(password, salt); err != nil || got != kept {
		t.Errorf("got %s and %v, Postgres keeps %s", got, err, kept)
	}
	for _, wrong := range []string{"", "motörhead", "two\nlines"} {
		if got, err := postgres.ScramVerifier(wrong, salt); err == nil || strings.Contains(err.Error(), wrong) && wrong != "" {
			t.Errorf("%q: got %s and %v", wrong, got, err)
		}
	}
}

// The owner, who may make roles and is no superuser, migrates and gives the processes their users; again with other passwords.
func TestOwnerMakesTheUsers(t *testing.T) {
	t.Parallel()
	database := ledgertest.Empty(t)
	sql := ledgertest.Connect(t, database)
	owner, user := someRole(t, "owner", database), someRole(t, "api", database)
	for _, statement := range []string{"create role " + owner + " login createrole password 'owner'", "alter schema public owner to " + owner} {
		if _, err := sql.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { afterwards(t, database, "drop owned by "+owner+" cascade") })
	at := loginAt(t, database, owner, "owner")
	if err := postgres.Migrate(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	kept := func() (password string) {
		t.Helper()
		if err := sql.QueryRow(t.Context(), "select rolpassword from pg_authid where rolname = $1 and rolcanlogin and pg_has_role(oid, 'cauri_api', 'member')", user).
			Scan(&password); err != nil {
			t.Fatal(err)
		}
		return password
	}
	var before string
	for _, password := range []string{"first", "second"} {
		if err := postgres.EnsureUsers(t.Context(), at, []postgres.User{{Name: user, Group: "cauri_api", Password: password}}); err != nil {
			t.Fatal(err)
		}
		after := kept()
		if !strings.HasPrefix(after, "SCRAM-SHA-256$") || after == before {
			t.Errorf("its password is kept as %s", after)
		}
		before = after
	}
	asUser := loginAt(t, database, user, "second")
	s, err := postgres.Open(asUser, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("the user has not what the api needs: %v", err)
	}
	err = postgres.EnsureUsers(t.Context(), asUser, []postgres.User{{Name: user, Group: "cauri_worker", Password: "third"}})
	if err == nil || strings.Contains(err.Error(), "third") {
		t.Errorf("a user who gives itself more rights: %v", err)
	}
}

// loginAt is the URL of a database for another user. Whether the server wants a password is its own affair.
func loginAt(t *testing.T, database, user, password string) string {
	t.Helper()
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(user, password)
	return at.String()
}
