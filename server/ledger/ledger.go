// Package ledger moves and reads money. With it, the api records and reads transactions, and the worker settles and
// forwards them and delivers their events.
//
// Every method returns an error that wraps [postgres.ErrUnavailable] when the database cannot be reached or cannot
// serve.
package ledger

import (
	"time"

	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/faultcounts"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Ledger records and reads transactions, events and prompts for the api. All types of this package are safe for
// concurrent use.
type Ledger struct {
	// What the packages in this folder do for the api, with the same database.
	*clocks.Control
	*faultcounts.Faults
	*lists.Transactions
	*nativestore.Store
	*observations.Observer
	*receiverchecks.Requests

	core           ledgerdb.Core
	collections    postgres.Coalescer[*NewCollection]   // one queue for each float, of collections that succeed at once
	disbursements  postgres.Coalescer[*NewDisbursement] // one queue for each float
	sandboxLookups postgres.Coalescer[*lookup]          // one queue for each sandbox
	sharedLookups  postgres.Coalescer[[]*lookup]        // one queue for all sandboxes, under the empty key
}

// New makes a ledger in a database.
func New(db *postgres.DB, store *sandboxes.Registry) *Ledger {
	core := ledgerdb.Core{DB: db, Sandboxes: store}
	l := &Ledger{
		core: core, Control: clocks.NewControl(core), Faults: faultcounts.New(core), Transactions: lists.New(core),
		Store: nativestore.New(core), Requests: receiverchecks.NewRequests(core), Observer: observations.NewObserver(core),
	}
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
	return l
}

// Settler gives due transactions their outcome.
type Settler struct {
	core      ledgerdb.Core
	onSettled func(payments.Status, *time.Duration)
}

// NewSettler returns a [Settler] that calls onSettled, unless it is nil, for every settled transaction. lag is the time
// from the due time to the settlement; nil in a sandbox with a clock of its own.
func NewSettler(db *postgres.DB, store *sandboxes.Registry, onSettled func(status payments.Status, lag *time.Duration)) *Settler {
	return &Settler{ledgerdb.Core{DB: db, Sandboxes: store}, onSettled}
}

// Deliveries leases events and callbacks to the workers that send them.
type Deliveries struct {
	core ledgerdb.Core
	keys *secrets.KeyRing
}

// NewDeliveries returns a [Deliveries] that decrypts signing secrets with the key ring.
func NewDeliveries(db *postgres.DB, store *sandboxes.Registry, keys *secrets.KeyRing) *Deliveries {
	return &Deliveries{ledgerdb.Core{DB: db, Sandboxes: store}, keys}
}

// Forwards leases collections to the workers that forward them to operators.
type Forwards struct{ core ledgerdb.Core }

// NewForwards returns a [Forwards] that decrypts the operators' credentials with the store.
func NewForwards(db *postgres.DB, store *sandboxes.Registry) *Forwards {
	return &Forwards{ledgerdb.Core{DB: db, Sandboxes: store}}
}
