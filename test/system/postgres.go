package system

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/localpostgres"
	"github.com/cauri-dev/cauri/test/ports"
)

// Postgres is a server for one test. Its commits are durable, as in production.
type Postgres struct {
	programs   string // folder
	credential *syscall.Credential
	folder     string
	password   string
	port       int
	disk       int64    // size of its own disk in bytes; 0: it has none
	settings   []string // in addition to those of every server
	databases  atomic.Int64
	process    *Process
}

// Shutdown modes of Postgres.
const (
	Fast      = syscall.SIGINT  // ends connections, rolls back open transactions, then shuts down
	Immediate = syscall.SIGQUIT // ends at once, like a crash; the next start recovers from the log
)

// StartPostgres creates an empty server in its own folder and starts it. The settings, such as shared_buffers=1GB, are
// added to the defaults. [Postgres.Close] removes it.
func StartPostgres(ctx context.Context, settings ...string) (*Postgres, error) {
	return startPostgres(ctx, &Postgres{settings: settings})
}

// ErrNoSmallDisk means that no file system can be mounted, which needs Linux and root.
var ErrNoSmallDisk = errors.New("no file system can be mounted here")

// StartPostgresOnSmallDisk is StartPostgres on a small disk that the test can fill. The size is in bytes. It returns
// [ErrNoSmallDisk] if it cannot mount one.
func StartPostgresOnSmallDisk(ctx context.Context, bytes int64) (*Postgres, error) {
	return startPostgres(ctx, &Postgres{disk: bytes, settings: []string{"min_wal_size=32MB", "max_wal_size=32MB"}})
}

func startPostgres(ctx context.Context, p *Postgres) (_ *Postgres, err error) {
	if p.programs, err = findPrograms(ctx); err != nil {
		return nil, err
	}
	if p.credential, err = localpostgres.Credential(); err != nil {
		return nil, err
	}
	if p.port, err = ports.Free(); err != nil {
		return nil, err
	}
	if err := p.initialise(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := p.Start(ctx); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// initialise creates the data folder.
func (p *Postgres) initialise(ctx context.Context) (err error) {
	if p.folder, err = p.newFolder("cauri-postgres-"); err != nil {
		return err
	}
	if p.disk > 0 {
		if err := mountMemory(p.folder, p.disk); err != nil {
			p.disk = 0
			return err
		}
	}
	if err := p.makeData(); err != nil {
		return err
	}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // never fails
	p.password = hex.EncodeToString(secret)
	passwordFile := filepath.Join(p.folder, "password")
	if err := os.WriteFile(passwordFile, []byte(p.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the password of Postgres: %w", err)
	}
	if err := p.own(passwordFile); err != nil {
		return err
	}
	// No sync: only later data must survive.
	initdb := exec.CommandContext(ctx, filepath.Join(p.programs, "initdb"), "--pgdata="+p.data(), "--username="+superuser,
		"--pwfile="+passwordFile, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.Dir = p.folder
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	if output, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("creating a Postgres database: %w\n%s", err, output)
	}
	return nil
}

func (p *Postgres) data() string { return filepath.Join(p.folder, "data") }

// Start starts the server, on its old port after a stop, and waits until it serves.
func (p *Postgres) Start(ctx context.Context) (err error) {
	args := []string{"-D", p.data()}
	own := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(p.port), "unix_socket_directories=", "max_connections=150",
		"shared_buffers=128MB", "fsync=on", "synchronous_commit=on", "full_page_writes=on", "log_line_prefix=%m [%p] ",
	}
	for _, setting := range append(own, p.settings...) { // the last setting of a name wins
		args = append(args, "-c", setting)
	}
	p.process, err = start(command{
		name: "postgres", program: filepath.Join(p.programs, "postgres"), args: args, dir: p.folder,
		env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}, log: filepath.Join(p.folder, "log"),
		credential: p.credential, onOrphaned: Immediate,
	})
	if err != nil {
		return err
	}
	return p.process.ready(ctx, time.Minute, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, p.URL("postgres"))
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
}

// Stop stops the server, [Fast] or [Immediate], and returns when it has ended.
func (p *Postgres) Stop(how syscall.Signal) error {
	return p.process.signal(how, 30*time.Second) // ignore the exit code: the test may want a crash
}

// Close stops the server and removes its data.
func (p *Postgres) Close() error {
	if p.process != nil {
		if err := p.Stop(Immediate); err != nil {
			return err
		}
	}
	if p.disk > 0 {
		if err := unmountMemory(p.folder); err != nil {
			return fmt.Errorf("unmounting the disk of Postgres: %w", err)
		}
	}
	return os.RemoveAll(p.folder)
}

// URL is the address of a database for the superuser.
func (p *Postgres) URL(database string) string { return p.urlFor(superuser, database) }

const superuser = "postgres"

func (p *Postgres) urlFor(user, database string) string {
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(user, p.password), Host: ports.Loopback(p.port), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return address.String()
}

// userIn is the database user of a kind of process: api, worker or controller.
func userIn(process string) string { return "test_" + process }

// makeUser creates the database user of a kind of process, with exactly the rights of the role from the migrations.
// Users belong to the whole server.
func (p *Postgres) makeUser(ctx context.Context, process string) error {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return fmt.Errorf("creating the database user of the %s: %w", process, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, fmt.Sprintf(`do $$ begin
		if to_regrole('%[1]s') is null then create user %[1]s password '%[2]s' in role cauri_%[3]s; end if;
		exception when duplicate_object or unique_violation then null; -- another test has made it
	end $$`, userIn(process), p.password, process))
	if err != nil {
		return fmt.Errorf("creating the database user of the %s: %w", process, err)
	}
	return nil
}

// NewDatabase creates an empty database and returns its name.
func (p *Postgres) NewDatabase(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return "", fmt.Errorf("creating a database: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	name := "cauri" + strconv.FormatInt(p.databases.Add(1), 10)
	if _, err := conn.Exec(ctx, "create database "+name); err != nil {
		return "", fmt.Errorf("creating a database: %w", err)
	}
	return name, nil
}
