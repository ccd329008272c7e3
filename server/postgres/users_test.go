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
