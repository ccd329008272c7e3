package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/secrets"
)

// devState is the state of `cauri dev` in the database, beside the rows of the sandboxes. It has the resources, and the
// key that encrypts stored secrets. So a restart needs only the database.
type devState struct {
	pool *pgxpool.Pool
	lock *pgxpool.Conn // connection that holds the advisory lock

	pin        keptKey[rsa.PrivateKey]        // see pinKey
	credential keptKey[secrets.CredentialKey] // see credentialKey
}

// devTable is the table with the key. It also marks a database that belongs to `cauri dev`.
const devTable = "cauri_dev"

// devLock is the number of the advisory lock of the process that uses a database. It is an arbitrary number.
const devLock = 7_226_118_304

const (
	// stateTimeout bounds one attempt to open the state.
	stateTimeout = 10 * time.Second
	// statePoll is the pause between two attempts to reach the database.
	statePoll = 200 * time.Millisecond
)

// awaitDevState repeats openDevState until the database has started. The parameter within is the maximum duration.
func awaitDevState(ctx context.Context, url string, within time.Duration, say func(string, ...any)) (state *devState, err error) {
	said := false
	waits := retry{within: within, interval: statePoll, transient: func(err error) bool {
		var answer *pgconn.PgError
		var unreachable *pgconn.ConnectError
		starting := errors.As(err, &answer) && answer.Code == pgerrcode.CannotConnectNow
		transient := starting || answer == nil && errors.As(err, &unreachable)
		if transient && !said {
			say("Waiting for the database for up to %s: %v", within, err)
		}
		said = said || transient
		return transient
	}}
	err = waits.run(ctx, func() (err error) {
		state, err = openDevState(ctx, url)
		return err
	})
	return state, err
}

// openDevState locks a database for this process and returns its state. It returns an error if another process uses the
// database, or if the database has tables that `cauri dev` did not create.
func openDevState(ctx context.Context, url string) (*devState, error) {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	config, err := pgxpool.ParseConfig(url)
	if err = postgres.Readable(url, err); err != nil {
		return nil, cli.Usage(fmt.Errorf("--database-url (CAURI_DATABASE_URL): %w", err))
	}
	config.MaxConns = 2
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	s := &devState{pool: pool}
	if s.lock, err = pool.Acquire(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("the database does not answer: %w", err)
	}
	if err := s.acquireLock(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *devState) acquireLock(ctx context.Context) error {
	var free bool
	if err := s.lock.QueryRow(ctx, "select pg_try_advisory_lock($1)", devLock).Scan(&free); err != nil {
		return fmt.Errorf("locking the database: %w", err)
	}
	if !free {
		return cli.Refused(errors.New("another `cauri dev` uses this database: stop it, or name another database"))
	}
	return s.createTable(ctx)
}

// createTable creates devTable in an empty schema.
func (s *devState) createTable(ctx context.Context) error {
	var schema *string
	if err := s.pool.QueryRow(ctx, "select current_schema()").Scan(&schema); err != nil {
		return fmt.Errorf("asking for the schema: %w", err)
	}
	if schema == nil {
		return cli.Refused(errors.New("the schema of search_path does not exist in this database: create it, or name another one"))
	}
	rows, err := s.pool.Query(ctx, `select c.relname from pg_class c where c.relnamespace = current_schema()::regnamespace
		and c.relkind in ('r', 'p', 'v', 'm', 'f') and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') order by 1`)
	if err != nil {
		return fmt.Errorf("listing the tables: %w", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("listing the tables: %w", err)
	}
	if err := checkTables(*schema, tables); err != nil || len(tables) > 0 {
		return err
	}
	_, err = s.pool.Exec(ctx, "create table "+devTable+" (name text primary key, content text not null)")
	return err
}

// checkTables returns an error unless a schema is empty or `cauri dev` has used it before.
func checkTables(schema string, tables []string) error {
	const most = 5
	const instead = "name an empty database, or an empty schema with ?search_path=name at the end of the URL"
	ours := map[string]bool{}
	for _, table := range tables {
		ours[table] = true
	}
	switch {
	case len(tables) == 0 || ours[devTable]:
		return nil
	case ours["config_version"] && ours["organizations"]:
		return cli.Refused(fmt.Errorf("the schema %s of this database is that of a Cauri that runs in a cluster, which is left alone: %s", schema, instead))
	}
	if len(tables) > most {
		tables = append(tables[:most:most], "...")
	}
	return cli.Refused(fmt.Errorf("the schema %s of this database has tables that are not Cauri's (%s), and is left alone: %s", schema,
		strings.Join(tables, ", "), instead))
}

// keyRing returns the encryption key of this database. The first call for a database generates the key.
func (s *devState) keyRing(ctx context.Context) (*secrets.KeyRing, error) {
	fresh, err := newEncryptionKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := s.kept(ctx, "encryption-key", fresh)
	if err != nil {
		return nil, err
	}
	return secrets.ParseKeyRing(key)
}

// kept returns the key of this database with a name. The first call keeps a fresh key.
func (s *devState) kept(ctx context.Context, name, fresh string) (key string, err error) {
	err = s.pool.QueryRow(ctx, "insert into "+devTable+" (name, content) values ($1, $2) on conflict (name) do update "+
		"set name = excluded.name returning content", name, fresh).Scan(&key)
	if err != nil {
		return "", fmt.Errorf("reading the %s of the database: %w", name, err)
	}
	return key, nil
}

// pinKey returns the key for PINs of this database; nil if the database does not answer.
func (s *devState) pinKey() *rsa.PrivateKey { return s.pin.get(s, "pin-key", secrets.ParseRSAKey) }

// credentialKey returns the key of the certificate of this database; nil if the database does not answer.
func (s *devState) credentialKey() *secrets.CredentialKey {
	return s.credential.get(s, "credential-key", secrets.ParseCredentialKey)
}

// keptKey is an RSA key of a database. It is made when it is needed, so that the start does not take longer.
type keptKey[K any] struct {
	mu  sync.Mutex
	key *K
}

// get returns the key with a name; nil if the database does not answer.
func (k *keptKey[K]) get(s *devState, name string, parse func(string) (*K, error)) *K {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key != nil {
		return k.key
	}
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	text, err := secrets.NewRSAKey(rand.Reader)
	if err == nil {
		text, err = s.kept(ctx, name, text)
	}
	if err == nil {
		k.key, err = parse(text)
	}
	if err != nil {
		slog.WarnContext(ctx, "a key is missing", "name", name, "error", err)
	}
	return k.key
}

// port returns the port of a root at the last start; 0 if it is unknown.
func (s *devState) port(root devRoot) (port int) {
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	// Without an answer, another port is chosen.
	_ = s.pool.QueryRow(ctx, "select content::int from "+devTable+" where name = $1", root.String()).Scan(&port)
	return port
}

// keepPort stores the port of a root for the next start.
func (s *devState) keepPort(root devRoot, port int) {
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	_, err := s.pool.Exec(ctx, "insert into "+devTable+" (name, content) values ($1, $2) on conflict (name) do update "+
		"set content = excluded.content", root.String(), strconv.Itoa(port))
	if err != nil {
		slog.WarnContext(ctx, "the next start may choose another port", "for", root, "error", err)
	}
}

func (s *devState) close() {
	s.lock.Release()
	s.pool.Close()
}
