package ledgertest

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Store has all types that work on one database, for tests.
type Store struct {
	*postgres.DB
	*sandboxes.Registry
	*ledger.Ledger
	*ledger.Settler
	*ledger.Deliveries
	*ledger.Forwards
	*queues.Upkeep
	*clocks.Leases
	*observations.Expectations
	*receiverchecks.Queue
	*proof.Books
	*proof.Proofs
}

// Options are the settings of the parts of a [Store].
type Options struct {
	postgres.Options
	KeyRing      *secrets.KeyRing
	OnSettled    func(status payments.Status, lag *time.Duration)
	DeletionTime time.Duration
}

// OpenWith opens another store on the database at url. The caller closes it.
func OpenWith(url string, o Options) (*Store, error) {
	db, err := postgres.Open(url, o.Options)
	if err != nil {
		return nil, err
	}
	configured := sandboxes.New(db, sandboxes.Options{KeyRing: o.KeyRing, DeletionTime: o.DeletionTime})
	return &Store{
		DB: db, Registry: configured, Ledger: ledger.New(db, configured), Settler: ledger.NewSettler(db, configured, o.OnSettled),
		Deliveries: ledger.NewDeliveries(db, configured, o.KeyRing), Forwards: ledger.NewForwards(db, configured), Upkeep: queues.NewUpkeep(db),
		Leases: clocks.NewLeases(db, configured), Expectations: observations.NewExpectations(db, configured),
		Queue: receiverchecks.NewQueue(db, configured, o.KeyRing), Books: proof.NewBooks(db),
		Proofs: proof.NewProofs(db, configured, func() float64 { return 0 }),
	}, nil
}

// SigningSecret returns the stored signing secret of a sandbox.
func (s *Store) SigningSecret(ctx context.Context, sandboxUID string) (string, error) {
	stored, err := s.StoredCredentials(ctx, sandboxUID)
	return stored.SigningSecret, err
}
