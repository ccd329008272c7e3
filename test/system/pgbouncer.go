package system

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/test/ports"
)

// PgBouncer is a connection pooler for Postgres in transaction mode: each database transaction may use a different
// connection.
type PgBouncer struct {
	postgres *Postgres
	process  *Process
	folder   string
	port     int
}

// ErrNoPgBouncer means that the program is not installed.
var ErrNoPgBouncer = errors.New(
	"pgbouncer is not installed: run `bin/localcluster pgbouncer` as root, `apt-get install pgbouncer`, or add it to PATH",
)

func pgbouncerProgram() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} { // Debian's folder, which is not in every PATH
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoPgBouncer
}

// StartPgBouncer starts a pooler with a maximum number of connections for each user and database. [PgBouncer.Close]
// stops it. It returns [ErrNoPgBouncer] if the program is missing.
func (p *Postgres) StartPgBouncer(ctx context.Context, connections int) (*PgBouncer, error) {
	program, err := pgbouncerProgram()
	if err != nil {
		return nil, err
	}
	b := &PgBouncer{postgres: p}
	if b.port, err = ports.Free(); err != nil {
		return nil, err
	}
	if b.folder, err = p.newFolder("cauri-pgbouncer-"); err != nil {
		return nil, err
	}
	if err := b.configure(connections); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.process, err = start(command{
		name: "pgbouncer", program: program, args: []string{b.file("pgbouncer.ini")}, dir: b.folder,
		env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}, log: b.file("log"),
		credential: p.credential, onOrphaned: Immediate,
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	err = b.process.ready(ctx, readyWithin, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, b.urlFor(superuser, "postgres")+"&"+modeParameter)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// modeParameter makes a connection send statements without preparing them.
const modeParameter = "default_query_exec_mode=exec"

func (b *PgBouncer) file(name string) string { return filepath.Join(b.folder, name) }

// configure writes the files of the pooler. All other settings are the defaults.
func (b *PgBouncer) configure(connections int) error {
	var users strings.Builder
	for _, user := range []string{superuser, userIn("api"), userIn("worker"), userIn("controller")} {
		fmt.Fprintf(&users, "%q %q\n", user, b.postgres.password)
	}
	settings := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
`, b.postgres.port, b.port, b.file("users"), connections)
	for name, content := range map[string]string{"pgbouncer.ini": settings, "users": users.String()} {
		if err := os.WriteFile(b.file(name), []byte(content), 0o600); err != nil {
			return fmt.Errorf("configuring pgbouncer: %w", err)
		}
		if err := b.postgres.own(b.file(name)); err != nil {
			return err
		}
	}
	return nil
}

func (b *PgBouncer) urlFor(user, database string) string {
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(user, b.postgres.password), Host: ports.Loopback(b.port), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return address.String()
}

// Stop stops the pooler and thus closes all connections.
func (b *PgBouncer) Stop() error { return b.process.signal(Immediate, 10*time.Second) }

// Close stops the pooler and removes its files.
func (b *PgBouncer) Close() error {
	if b.process != nil {
		b.process.Kill()
	}
	return os.RemoveAll(b.folder)
}
