// Package postgres has all access to the database: its schema, connections, tenant scope, admission, group commit and
// read replica. It does not know payments.
//
// [Classify] makes an error an [ErrUnavailable] if the database could not be reached or could not serve.
package postgres

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DBTX runs statements.
type DBTX interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}

// DB is a pool of connections to the database. It is safe for concurrent use.
type DB struct {
	pool      *pgxpool.Pool
	now       func() time.Time
	limit     time.Duration // of a statement and of a database transaction
	reached   *addresses
	replica   *replica // nil for none
	schema    schema
	admission *Admission
	commits   *sharedCommit
}

// Options are the settings of a [DB]; the zero value of each means its default.
type Options struct {
	MaxConns int              // default: four for each core
	Now      func() time.Time // the clock of this process; the database's clock decides what is due
	Tracer   pgx.QueryTracer  // of statements; nil for none

	// MaxQueueWait bounds the queue of each sandbox: if its first statement has waited longer for a connection, further
	// statements are refused with [ErrOverloaded]. Default: no bound.
	MaxQueueWait time.Duration

	// StatementTimeout bounds each statement, and each database transaction of several statements, outside the tenant
	// scope. Default: 30 s.
	StatementTimeout time.Duration

	// ReplicaURL is the URL of a streaming replica of the database, which answers lists while [DB.RunReplica] runs.
	// Empty: there is none.
	ReplicaURL string
}

// Open returns a pool for the database at a URL. A URL file:PATH is read from the file, again for each connection. Open
// does not connect before the first use, so that a process can start while its database is unavailable. It returns an
// error only for a URL that cannot be parsed.
func Open(url string, options Options) (*DB, error) {
	reached := &addresses{}
	pool, err := openPool(url, options, reached)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	d := &DB{pool: pool, now: options.Now, limit: cmp.Or(options.StatementTimeout, statementTimeout), reached: reached}
	d.schema.needs, d.schema.digest = NewestSchema(), baseDigest()
	if options.ReplicaURL != "" {
		d.replica = &replica{asking: SharedLoad[position]{Run: d.askPosition, Timeout: replicaTimeout}}
		if d.replica.pool, err = openPool(options.ReplicaURL, options, reached); err != nil {
			pool.Close()
			return nil, fmt.Errorf("reading the URL of the database's replica: %w", err)
		}
	}
	if d.now == nil {
		d.now = time.Now
	}
	d.admission = NewAdmission(int(pool.Config().MaxConns), options.MaxQueueWait, d.now)
	d.commits = newSharedCommit(d)
	return d, nil
}

// connectTimeout bounds one attempt to connect. The first packet of an attempt may be lost for good, for example to a
// Service without pods; a later attempt succeeds.
const connectTimeout = 5 * time.Second

// openPool makes a pool without connecting.
func openPool(url string, options Options, reached *addresses) (*pgxpool.Pool, error) {
	text, err := textOf(url)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(text)
	if err = Readable(text, err); err != nil {
		return nil, err
	}
	if err := takePassword(config.ConnConfig); err != nil {
		return nil, err
	}
	config.MaxConns = int32(options.MaxConns)
	if options.MaxConns == 0 {
		// More connections than this make one hot row slower, not faster.
		config.MaxConns = int32(4 * runtime.GOMAXPROCS(0))
	}
	config.ConnConfig.ConnectTimeout = connectTimeout
	config.ConnConfig.Tracer = options.Tracer
	config.ConnConfig.DialFunc = reached.dialed(dialer().DialContext)
	config.PingTimeout = connectTimeout // an idle connection that does not answer in this time is replaced
	refresh, pooler := reread(url), newPooler(text)
	config.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		if err := refresh(c); err != nil {
			return err
		}
		return pooler.adapt(ctx, c)
	}
	config.AfterConnect = reached.asked
	return pgxpool.NewWithConfig(context.Background(), config)
}

// Close ends all connections.
func (d *DB) Close() {
	if d.replica != nil {
		d.replica.pool.Close()
	}
	d.pool.Close()
}

// ping is a statement that every process has the right to run.
const ping = "-- name: ConfigVersion :one\nselect version from config_version"

// Ping reports whether the database answers, with the schema that this program needs.
func (d *DB) Ping(ctx context.Context) error {
	if err := d.CheckSchema(ctx); err != nil {
		return err
	}
	return Classify(d.Unscoped().QueryRow(ctx, ping).Scan(nil), "asking the database")
}

// Now returns the time of this process.
func (d *DB) Now() time.Time { return d.now() }

// MaxConns returns the maximum number of connections of the pool.
func (d *DB) MaxConns() int { return int(d.pool.Config().MaxConns) }

// Admission returns the admission of statements in the scope of a tenant.
func (d *DB) Admission() *Admission { return d.admission }

// PoolStat returns the statistics of the connection pool.
func (d *DB) PoolStat() *pgxpool.Stat { return d.pool.Stat() }

// Addresses returns the addresses of the database to which this pool has connected: those that the pool dialed, and
// those that Postgres reported as its own. The caller must not change the slice.
func (d *DB) Addresses() []netip.AddrPort { return d.reached.all() }
