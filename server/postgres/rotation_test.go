package postgres_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
)

// A password, and a user, are replaced while a process runs: each new connection reads the file again.
func TestPasswordsRotateWithoutARestart(t *testing.T) {
	t.Parallel()
	database := ledgertest.URL(t)
	sql := ledgertest.Connect(t, database)
	first, second := someRole(t, "first", ledgertest.AdminURL(t)), someRole(t, "second", ledgertest.AdminURL(t))
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(statement string) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("create role " + first + " login password 'one' in role cauri_api")
	byURL := write("url", loginAt(t, database, first, "one"))
	bare, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	byPassword := write("password", "one")
	bare.User, bare.RawQuery = url.User(first), "sslmode=disable&password_file="+url.QueryEscape(byPassword)
	pools := []*postgres.DB{open(t, "file:"+byURL), open(t, bare.String())}
	connects := func(user string) {
		t.Helper()
		for _, pool := range pools {
			postgres.Forget(pool)
			var got string
			if err := pool.Unscoped().QueryRow(t.Context(), "select session_user").Scan(&got); err != nil || got != user {
				t.Errorf("logged in as %s, %v", got, err)
			}
		}
	}
	connects(first)

	run("alter role " + first + " password 'two'")
	for _, pool := range pools {
		if err := pool.Ping(t.Context()); err != nil {
			t.Errorf("the connection that is there: %v", err)
		}
		postgres.Forget(pool)
		if err := pool.Ping(t.Context()); postgres.AbsenceOf(err) != postgres.Refused {
			t.Errorf("before the file follows: %v", err)
		}
	}
	write("url", loginAt(t, database, first, "two"))
	write("password", "two")
	connects(first)

	run("create role " + second + " login password 'three' in role cauri_api")
	write("url", loginAt(t, database, second, "three"))
	pools = pools[:1]
	connects(second)

	if err := os.Remove(byURL); err != nil {
		t.Fatal(err)
	}
	postgres.Forget(pools[0])
	if err := pools[0].Ping(t.Context()); !errors.Is(err, postgres.ErrUnavailable) || !strings.Contains(err.Error(), byURL) {
		t.Errorf("without the file: %v", err)
	}
	if _, err := postgres.Open("file:"+byURL, postgres.Options{}); err == nil || !strings.Contains(err.Error(), byURL) {
		t.Errorf("a process that starts without the file: %v", err)
	}
	write("url", loginAt(t, database, second, "three"))
	if err := postgres.Migrate(t.Context(), "file:"+byURL); err != nil {
		t.Errorf("a migration: %v", err)
	}
	connects(second)
}
