// Package ledger moves and reads money: the transactions that the api
// records, what the worker settles and delivers. It is the one place that moves money.
//
// Every method returns an error that is [postgres.ErrUnavailable] when the database cannot be reached or cannot serve.
package ledger

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Store is everything in one database. It is safe for concurrent use.
type Store struct {
	*postgres.DB
	*sandboxes.Store
	keys    *secrets.KeyRing
	settled func(payments.Status, time.Duration)

	collections   postgres.Coalescer[*NewCollection]   // that succeed at once
	disbursements postgres.Coalescer[*NewDisbursement] // that the float decides
	lookups       postgres.Coalescer[*lookup]          // in one sandbox, whose key has no currency
	batches       postgres.Coalescer[*lookups]         // in all sandboxes, under a key of nobody's
}

// Options are the settings of a [Store]; the zero value of each means its default.
type Options struct {
	postgres.Options
	KeyRing *secrets.KeyRing // for stored secrets; without one, methods that read or write a secret fail
	// Settled is told of every transaction that a batch gave its outcome, and how long after it was due; nil for nobody.
	Settled func(status payments.Status, late time.Duration)

	DeletionTime time.Duration // that a call of DeleteSandbox may take; default 5 s
}

// Open is [postgres.Open].
func Open(url string, options Options) (*Store, error) {
	db, err := postgres.Open(url, options.Options)
	if err != nil {
		return nil, err
	}
	s := &Store{
		DB: db, Store: sandboxes.New(db, sandboxes.Options{KeyRing: options.KeyRing, DeletionTime: options.DeletionTime}),
		keys: options.KeyRing, settled: options.Settled,
	}
	admission := db.Admission()
	s.collections = postgres.Coalescer[*NewCollection]{AtOnce: 1, Admission: admission, One: s.bookCollection, Many: s.bookCollections}
	s.disbursements = postgres.Coalescer[*NewDisbursement]{
		AtOnce: 1, Admission: admission, One: s.bookDisbursement, Many: s.bookDisbursements,
	}
	// Look-ups are admitted batch by batch, not one by one. One batch for each of the database's cores keeps it busy.
	s.lookups = postgres.Coalescer[*lookup]{
		AtOnce: 1, Admission: postgres.NewAdmission(math.MaxInt, options.Patience, db.Now), One: s.lookUp, Many: s.lookUpAll,
	}
	s.batches = postgres.Coalescer[*lookups]{
		Shared: true, AtOnce: max(1, db.MaxConns()/4), Admission: admission, One: s.readBatch, Many: s.readBatches,
	}
	return s, nil
}

// floatKey names a float.
type floatKey = postgres.QueueKey

// system runs queries outside the tenant scope: configuration, and what sweeps over all sandboxes.
func (s *Store) system() *sqlc.Queries { return sqlc.New(s.System()) }

// inTx runs f in one database transaction outside the tenant scope.
func (s *Store) inTx(ctx context.Context, f func(q *sqlc.Queries) error) error {
	return s.inTxOf(ctx, postgres.IdleLimited, f)
}

func (s *Store) inTxOf(ctx context.Context, options pgx.TxOptions, f func(q *sqlc.Queries) error) error {
	return s.InTx(ctx, options, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}

// tenant runs queries in the scope of a tenant, see [postgres.DB.Tenant].
func (s *Store) tenant(tenant int64) *sqlc.Queries { return sqlc.New(s.Tenant(tenant)) }

// versionChecked is [postgres.DB.VersionChecked].
func (s *Store) versionChecked(tenant int64, admitted bool) *sqlc.Queries {
	return sqlc.New(s.VersionChecked(tenant, admitted))
}

// inTenantTx is [postgres.DB.InTenantTx].
func (s *Store) inTenantTx(ctx context.Context, tenant int64, f func(q *sqlc.Queries) error) error {
	return s.InTenantTx(ctx, tenant, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}
