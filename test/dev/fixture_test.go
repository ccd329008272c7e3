package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/test/system"
)

// program is the program under test, built from the work tree.
var program string

// databases is a Postgres for all tests that do not start their own.
var databases *system.Postgres

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	http.DefaultTransport.(*http.Transport).DisableKeepAlives = true // as in package ledgertest
	folder, err := os.MkdirTemp("", "cauri-dev-test-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if program, err = system.Build(context.Background(), folder); err != nil {
		return 0, err
	}
	if databases, err = system.StartPostgres(context.Background(), "fsync=off"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, databases.Close()) }()
	return m.Run(), nil
}

// newDatabase is the URL of an empty database.
func newDatabase(t *testing.T) string {
	t.Helper()
	name, err := databases.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return databases.URL(name)
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, url, sql string) (n int) {
	t.Helper()
	if err := connect(t, url).QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// receiver acknowledges events and passes their headers on.
func receiver(t *testing.T, events chan<- http.Header) (address string, stop func()) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { events <- r.Header }))
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return at.JoinPath("webhooks").String(), server.Close
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var folders atomic.Int64

// passableFolder is an empty folder that every user may enter, also the one that Postgres runs as.
func passableFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("/tmp", fmt.Sprintf("cauri-devtest-%d-%d", os.Getpid(), folders.Add(1)))
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// output is what a process printed so far.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}
