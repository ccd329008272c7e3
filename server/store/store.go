// Package store keeps everything in Postgres: the configuration that the controller writes, the transactions that the api
// records, what the worker settles and delivers. It is the one place that moves money.
//
// Every method returns an error that is [ErrUnavailable] when the database cannot be reached or cannot serve.
package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Store is a pool of connections to the database. It is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	keys    *KeyRing
	now     func() time.Time
	random  io.Reader
	active  activity
	settled func(payments.Status, time.Duration)

	deletionTime time.Duration
	limit        time.Duration // of a statement and of a database transaction
	reached      *addresses
	replica      *replica // nil for none
	schema       schema

	turns         *turns
	collections   backlog[*NewCollection]   // that succeed at once
	disbursements backlog[*NewDisbursement] // that the float decides
	lookups       backlog[*lookup]          // in one sandbox, whose key has no currency
	trips         backlog[*lookups]         // in all sandboxes, under a key of nobody's
}

// Options are the settings of a [Store]; the zero value of each means its default.
type Options struct {
	KeyRing  *KeyRing         // for stored secrets; without one, methods that read or write a secret fail
	MaxConns int              // default: four a core
	Now      func() time.Time // for new identifiers only: what is due is decided by the database's clock
	Random   io.Reader
	Tracer   pgx.QueryTracer // of statements; nil for none
	// Settled is told of every transaction that a batch gave its outcome, and how long after it was due; nil for nobody.
	Settled func(status payments.Status, late time.Duration)

	// Patience is how long what serves one sandbox may have waited for a connection when more of it comes, which is refused with
	// [ErrOverloaded] then; default: for ever.
	Patience time.Duration

	// StatementTimeout bounds each statement, and each database transaction of several, outside the tenant wall; default 30 s.
	StatementTimeout time.Duration

	DeletionTime time.Duration // that a call of DeleteSandbox may take; default 5 s

	// ReplicaURL is that of a streaming replica of the database, which answers lists while [Store.RunReplica] runs; empty for none.
	ReplicaURL string
}

// Open makes a store for the database at url. No connection is made before the first use, so that a process can start
// while its database is away. It returns an error for a url that cannot be parsed.
func Open(url string, options Options) (*Store, error) {
	reached := &addresses{}
	pool, err := openPool(url, options, reached)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	s := &Store{pool: pool, keys: options.KeyRing, now: options.Now, random: options.Random, deletionTime: cmp.Or(options.DeletionTime, deletionTime), settled: options.Settled, reached: reached}
	s.limit = cmp.Or(options.StatementTimeout, statementTimeout)
	s.schema.needs = NewestSchema()
	if options.ReplicaURL != "" {
		s.replica = &replica{asking: flight[position]{run: s.askPosition, timeout: replicaTimeout}}
		if s.replica.pool, err = openPool(options.ReplicaURL, options, reached); err != nil {
			pool.Close()
			return nil, fmt.Errorf("reading the URL of the database's replica: %w", err)
		}
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.random == nil {
		s.random = rand.Reader
	}
	s.turns = newTurns(int(pool.Config().MaxConns), options.Patience, s.now)
	s.collections = backlog[*NewCollection]{atOnce: 1, turns: s.turns, one: s.bookCollection, many: s.bookCollections}
	s.disbursements = backlog[*NewDisbursement]{atOnce: 1, turns: s.turns, one: s.bookDisbursement, many: s.bookDisbursements}
	// Look-ups take turns at the database trip by trip, not one by one. One trip for each of the database's cores keeps it busy.
	s.lookups = backlog[*lookup]{atOnce: 1, turns: newTurns(math.MaxInt, options.Patience, s.now), one: s.lookUp, many: s.lookUpAll}
	s.trips = backlog[*lookups]{shared: true, atOnce: max(1, int(pool.Config().MaxConns)/4), turns: s.turns, one: s.travel, many: s.travelTogether}
	return s, nil
}

// connectTimeout bounds one attempt to connect. A first packet may be lost for good, as to a Service whose pods are not there yet;
// another attempt gets through.
const connectTimeout = 5 * time.Second

// openPool makes a pool without connecting.
func openPool(url string, options Options, reached *addresses) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, unreadable(url, err)
	}
	config.MaxConns = int32(options.MaxConns)
	if options.MaxConns == 0 {
		// More connections than this make one hot row slower, not faster.
		config.MaxConns = int32(4 * runtime.GOMAXPROCS(0))
	}
	config.ConnConfig.ConnectTimeout = connectTimeout
	config.ConnConfig.Tracer = options.Tracer
	config.ConnConfig.DialFunc = reached.dialed(dialer().DialContext)
	config.PingTimeout = connectTimeout // of a connection that was idle: one that hangs gives way to another
	config.BeforeConnect = newPooler(url).adapt
	config.AfterConnect = reached.asked
	return pgxpool.NewWithConfig(context.Background(), config)
}

// Close ends all connections.
func (s *Store) Close() {
	if s.replica != nil {
		s.replica.pool.Close()
	}
	s.pool.Close()
}

// Ping reports whether the database answers, with the schema that this program needs.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.CheckSchema(ctx); err != nil {
		return err
	}
	_, err := s.system().ConfigVersion(ctx)
	return classify(err, "asking the database")
}

// system runs queries outside the tenant wall: configuration, and what sweeps over all sandboxes.
func (s *Store) system() *sqlc.Queries { return sqlc.New(timely{s.pool, s.limit}) }

// perishable is for database transactions of several statements: one whose process does not go on with it, since its machine is
// frozen or cut off, ends by itself. Its locks would otherwise keep everybody else from a merchant's money for hours. That is
// sooner than the api gives up a booking that waits for them.
var perishable = pgx.TxOptions{BeginQuery: "begin; set local idle_in_transaction_session_timeout = '5s'"}

// impatient is as perishable, for what is done for several sandboxes at once, or in turn: it does not wait for long for what one of
// them holds.
var impatient = pgx.TxOptions{BeginQuery: "begin; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'"}

// snapshot is perishable for reading all of one moment.
var snapshot = pgx.TxOptions{BeginQuery: "begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = '5s'"}

// inTx runs f in one database transaction outside the tenant wall.
func (s *Store) inTx(ctx context.Context, f func(q *sqlc.Queries) error) error {
	return s.inTxOf(ctx, perishable, f)
}

func (s *Store) inTxOf(ctx context.Context, options pgx.TxOptions, f func(q *sqlc.Queries) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	return pgx.BeginTxFunc(ctx, s.pool, options, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}

// newCode makes the part of an identifier behind its prefix.
func (s *Store) newCode() (string, error) {
	id, err := payments.NewID(s.now(), s.random)
	return id.Code(), err
}
