// Package ledgertest gives each test a database of its own on a real Postgres.
package ledgertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Variable names the environment variable that says where the Postgres of the tests is: the URL of a superuser, who may make
// databases. `make test` starts one and sets it.
const Variable = "CAURI_TEST_DATABASE_URL"

// KeyRing is a key ring for tests.
func KeyRing(t testing.TB) *secrets.KeyRing {
	t.Helper()
	ring, err := secrets.ParseKeyRing("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// New opens a store on a new database that holds the present schema and goes when the test ends.
func New(t testing.TB) *Store {
	t.Helper()
	return Open(t, URL(t))
}

// Open opens another store on a database that [URL] made.
func Open(t testing.TB, url string) *Store {
	t.Helper()
	s, err := OpenWith(url, Options{KeyRing: KeyRing(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Connect opens a connection for what a test wants to see for itself.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// URL makes a database that holds the present schema and returns its URL. It goes when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	admin := adminURL(t)
	template, err := template(admin)
	if err != nil {
		t.Fatalf("making the template database: %v", err)
	}
	name := "t_" + digest(t.Name(), fmt.Sprint(os.Getpid()), fmt.Sprint(time.Now().UnixNano()))
	execute(t, admin, fmt.Sprintf("create database %s template %s strategy file_copy", name, template))
	t.Cleanup(func() { execute(t, admin, fmt.Sprintf("drop database if exists %s with (force)", name)) })
	return onDatabase(admin, name)
}

// Empty makes a database without a schema and returns its URL. It goes when the test ends.
func Empty(t testing.TB) string {
	t.Helper()
	admin := adminURL(t)
	name := "e_" + digest(t.Name(), fmt.Sprint(os.Getpid()), fmt.Sprint(time.Now().UnixNano()))
	execute(t, admin, "create database "+name)
	t.Cleanup(func() { execute(t, admin, fmt.Sprintf("drop database if exists %s with (force)", name)) })
	return onDatabase(admin, name)
}

func adminURL(t testing.TB) string {
	t.Helper()
	admin := os.Getenv(Variable)
	if admin == "" {
		t.Fatalf("%s is not set; run the tests with `make test`, or set it to the URL of a Postgres superuser", Variable)
	}
	return admin
}

var templates sync.Map // of admin URL to func() (string, error)

// template makes the database that the tests' own are copied from, once for each state of the migrations and for all test
// programs that run at the same time.
func template(admin string) (string, error) {
	once, _ := templates.LoadOrStore(admin, sync.OnceValues(func() (string, error) { return makeTemplate(admin) }))
	return once.(func() (string, error))()
}

func makeTemplate(admin string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	name := "template_" + postgres.SchemaDigest()
	const lock = 726_381_104 // any number that nobody else takes
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lock); err != nil {
		return "", err
	}
	var ready bool
	err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1 and datistemplate)", name).Scan(&ready)
	if err != nil || ready {
		return name, err
	}
	for _, sql := range []string{"drop database if exists " + name, "create database " + name} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return "", err
		}
	}
	if err := postgres.Migrate(ctx, onDatabase(admin, name)); err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "alter database "+name+" is_template true")
	return name, err
}

func execute(t testing.TB, url, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func onDatabase(admin, name string) string {
	u, err := url.Parse(admin)
	if err != nil {
		panic("reading " + Variable + ": " + err.Error())
	}
	u.Path = "/" + name
	return u.String()
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
