// Package store keeps everything in Postgres: the configuration that the controller writes, the transactions that the api
// records, what the worker settles and delivers. It is the one place that moves money.
//
// Every method returns an error that is [ErrUnavailable] when the database cannot be reached or cannot serve.
package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// Store is a pool of connections to the database. It is safe for concurrent use.
type Store struct {
	pool   *pgxpool.Pool
	keys   *KeyRing
	now    func() time.Time
	random io.Reader
}

// Options are the settings of a [Store]; the zero value of each means its default.
type Options struct {
	KeyRing  *KeyRing         // for stored secrets; without one, methods that read or write a secret fail
	MaxConns int              // default: four a core
	Now      func() time.Time // for new identifiers only: what is due is decided by the database's clock
	Random   io.Reader
}

// Open makes a store for the database at url. No connection is made before the first use, so that a process can start
// while its database is away. It returns an error for a url that cannot be parsed.
func Open(url string, options Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	config.MaxConns = int32(options.MaxConns)
	if options.MaxConns == 0 {
		// More connections than this make one hot row slower, not faster.
		config.MaxConns = int32(4 * runtime.GOMAXPROCS(0))
	}
	config.ConnConfig.ConnectTimeout = 5 * time.Second
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	s := &Store{pool: pool, keys: options.KeyRing, now: options.Now, random: options.Random}
	if s.now == nil {
		s.now = time.Now
	}
	if s.random == nil {
		s.random = rand.Reader
	}
	return s, nil
}

// Close ends all connections.
func (s *Store) Close() { s.pool.Close() }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.system().ConfigVersion(ctx)
	return classify(err, "asking the database")
}

// system runs queries outside the tenant wall: configuration, and what sweeps over all sandboxes.
func (s *Store) system() *db.Queries { return db.New(s.pool) }

// inTx runs f in one database transaction outside the tenant wall.
func (s *Store) inTx(ctx context.Context, f func(q *db.Queries) error) error {
	return s.inTxOf(ctx, pgx.TxOptions{}, f)
}

func (s *Store) inTxOf(ctx context.Context, options pgx.TxOptions, f func(q *db.Queries) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, options, func(tx pgx.Tx) error { return f(db.New(tx)) })
}

// newCode makes the part of an identifier behind its prefix.
func (s *Store) newCode() (string, error) {
	id, err := payments.NewID(s.now(), s.random)
	return id.Code(), err
}
