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
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Variable is the environment variable with the URL of the Postgres of the tests. Its user is a superuser, who may
// create databases. `make test` starts a Postgres and sets the variable.
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

// New opens a store on a new database with the present schema. The database is dropped when the test ends.
func New(t testing.TB) *Store {
	t.Helper()
	return Open(t, URL(t))
}

// Open opens another store on a database that [URL] made.
func Open(t testing.TB, url string) *Store {
	t.Helper()
	return open(t, url, Options{KeyRing: KeyRing(t)})
}

// open names the query mode, so that the store opens no connection just to find out that there is no pooler.
func open(t testing.TB, database string, options Options) *Store {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("default_query_exec_mode", "cache_statement")
	u.RawQuery = query.Encode()
	s, err := OpenWith(u.String(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Connect opens a connection, for statements of the test itself.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// URL creates a database with the present schema and returns its URL. The database is dropped when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	template, err := template(AdminURL(t))
	if err != nil {
		t.Fatalf("making the template database: %v", err)
	}
	return create(t, fmt.Sprintf("template %s strategy file_copy", template))
}

// Empty creates a database without a schema and returns its URL. The database is dropped when the test ends.
func Empty(t testing.TB) string {
	t.Helper()
	return create(t, "")
}

// create creates a database and returns its URL. The database is dropped when the test ends.
func create(t testing.TB, options string) string {
	t.Helper()
	name := "t_" + digest(t.Name(), fmt.Sprint(os.Getpid()), fmt.Sprint(time.Now().UnixNano()))
	execute(t, "create database "+name+" "+options)
	t.Cleanup(func() { execute(t, fmt.Sprintf("drop database if exists %s with (force)", name)) })
	return onDatabase(AdminURL(t), name)
}

// AdminURL returns the value of [Variable].
func AdminURL(t testing.TB) string {
	t.Helper()
	url := adminURL()
	if url == "" {
		t.Fatalf("%s is not set; run the tests with `make test`, or set it to the URL of a Postgres superuser", Variable)
	}
	return url
}

// adminURL returns the value of [Variable]. It differs from run to run. With CAURI_TEST_CACHE, as in `make test-fast`, it
// is read in a way that Go does not take for an input of the test, so that Go keeps the results of unchanged packages.
func adminURL() string {
	if os.Getenv("CAURI_TEST_CACHE") == "" {
		return os.Getenv(Variable)
	}
	for _, variable := range os.Environ() {
		if url, found := strings.CutPrefix(variable, Variable+"="); found {
			return url
		}
	}
	return ""
}

var templates sync.Map // of admin URL to func() (string, error)

// template creates the template database of the tests' databases. Test programs that run at the same time share it, as
// long as their migrations are equal.
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
	const lock = 726_381_104 // an arbitrary key of an advisory lock
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
	if err := postgres.MigrateAs(ctx, onDatabase(admin, name), "cauri"); err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "alter database "+name+" is_template true")
	return name, err
}

// admin is a pool for the statements of the tests of this program that belong to no database. A connection of each test
// would cost more than they do.
var admin = sync.OnceValues(func() (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(adminURL())
	if err != nil {
		return nil, err
	}
	config.MaxConns = 4
	return pgxpool.NewWithConfig(context.Background(), config)
})

func execute(t testing.TB, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pool, err := admin()
	if err == nil {
		_, err = pool.Exec(ctx, sql)
	}
	if err != nil {
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
