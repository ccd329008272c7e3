// Package ledger moves and reads money. With it, the api records and reads transactions, and the worker settles and
// forwards them and delivers their events.
//
// Every method returns an error that wraps [postgres.ErrUnavailable] when the database cannot be reached or cannot
// serve.
package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// core has the fields that all types of this package share.
type core struct {
	db        *postgres.DB
	sandboxes *sandboxes.Registry
}

// Ledger records and reads transactions, events and prompts for the api. All types of this package are safe for
// concurrent use.
type Ledger struct {
	core
	collections    postgres.Coalescer[*NewCollection]   // one queue for each float, of collections that succeed at once
	disbursements  postgres.Coalescer[*NewDisbursement] // one queue for each float
	sandboxLookups postgres.Coalescer[*lookup]          // one queue for each sandbox
	sharedLookups  postgres.Coalescer[[]*lookup]        // one queue for all sandboxes, under the empty key
	nativeSecrets  *postgres.SharedLookup[nativeSecret, struct{}]
	observing      *postgres.Admission // of observations, see observedAtOnce
}

// New makes a ledger in a database.
func New(db *postgres.DB, store *sandboxes.Registry) *Ledger {
	l := &Ledger{core: core{db, store}}
	admission := db.Admission()
	// A queue of one float or one sandbox does not wait for an admission. Each statement that it sends acquires one.
	l.collections = postgres.Coalescer[*NewCollection]{
		AtOnce: 1, Admission: admission.Unbounded(), One: l.bookCollection, Many: l.bookCollections,
	}
	l.disbursements = postgres.Coalescer[*NewDisbursement]{
		AtOnce: 1, Admission: admission.Unbounded(), One: l.bookDisbursement, Many: l.bookDisbursements,
	}
	l.sandboxLookups = postgres.Coalescer[*lookup]{AtOnce: 1, Admission: admission.Unbounded(), One: l.lookUp, Many: l.lookUpAll}
	// With the default number of connections, there is one batch for two cores. More batches have fewer look-ups each.
	l.sharedLookups = postgres.Coalescer[[]*lookup]{
		Shared: true, AtOnce: max(1, db.MaxConns()/8), Admission: admission, One: l.readBatch, Many: l.readBatches,
	}
	l.nativeSecrets = postgres.NewSharedLookup(db, l.readNativeSecrets)
	l.observing = postgres.NewAdmission(observedAtOnce, observationWait, db.Now)
	return l
}

// Settler gives due transactions their outcome.
type Settler struct {
	core
	onSettled func(payments.Status, *time.Duration)
}

// NewSettler returns a [Settler] that calls onSettled, unless it is nil, for every settled transaction. lag is the time
// from the due time to the settlement; nil in a sandbox with a clock of its own.
func NewSettler(db *postgres.DB, store *sandboxes.Registry, onSettled func(status payments.Status, lag *time.Duration)) *Settler {
	return &Settler{core{db, store}, onSettled}
}

// Deliveries leases events and callbacks to the workers that send them.
type Deliveries struct {
	core
	keys *secrets.KeyRing
}

// NewDeliveries returns a [Deliveries] that decrypts signing secrets with the key ring.
func NewDeliveries(db *postgres.DB, store *sandboxes.Registry, keys *secrets.KeyRing) *Deliveries {
	return &Deliveries{core{db, store}, keys}
}

// Forwards leases collections to the workers that forward them to operators.
type Forwards struct{ core }

// NewForwards returns a [Forwards] that decrypts the operators' credentials with the store.
func NewForwards(db *postgres.DB, store *sandboxes.Registry) *Forwards {
	return &Forwards{core{db, store}}
}

// Upkeep removes old rows, and measures the work that is due.
type Upkeep struct{ core }

// NewUpkeep returns an [Upkeep] of all sandboxes of a database.
func NewUpkeep(db *postgres.DB) *Upkeep { return &Upkeep{core{db: db}} }

// system returns queries outside the tenant scope: for the configuration, and for sweeps over all sandboxes.
func (c core) system() *sqlc.Queries { return sqlc.New(c.db.Unscoped()) }

// polling returns queries outside the tenant scope, for the statements with which workers poll, and for those that anybody
// may cause.
func (c core) polling() *sqlc.Queries { return sqlc.New(c.db.GenericPlans()) }

// inTx runs f in one database transaction outside the tenant scope.
func (c core) inTx(ctx context.Context, f func(q *sqlc.Queries) error) error {
	return c.inTxOf(ctx, postgres.IdleLimited, f)
}

func (c core) inTxOf(ctx context.Context, options pgx.TxOptions, f func(q *sqlc.Queries) error) error {
	return c.db.InTx(ctx, options, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}

// tenant returns queries in the scope of a tenant, see [postgres.DB.Tenant].
func (c core) tenant(tenant int64) *sqlc.Queries { return sqlc.New(c.db.Tenant(tenant)) }

// inTenantTx is [postgres.DB.InTenantTx].
func (c core) inTenantTx(ctx context.Context, tenant int64, f func(q *sqlc.Queries) error) error {
	return c.db.InTenantTx(ctx, tenant, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}
