package queues

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/postgres"
)

// Upkeep removes old rows, and measures the work that is due.
type Upkeep struct{ core ledgerdb.Core }

// NewUpkeep returns an [Upkeep] of all sandboxes of a database.
func NewUpkeep(db *postgres.DB) *Upkeep { return &Upkeep{ledgerdb.Core{DB: db}} }

// InUse says which of the workers' queues have a row, due or not, over all sandboxes.
type InUse struct {
	Settlements, Forwards, Events, Callbacks, Clocks, Expectations, ReceiverChecks bool

	Passes bool // a ledger is due to be verified as a whole
}

// QueuesInUse returns which queues have a row. It costs a fraction of the queries for due rows.
func (s *Upkeep) QueuesInUse(ctx context.Context) (InUse, error) {
	row, err := s.core.Polling().QueuesInUse(ctx)
	return InUse(row), postgres.Classify(err, "looking for queues in use")
}
