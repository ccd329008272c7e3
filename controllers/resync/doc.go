// Package resync reconciles resources after changes that no watch of the Kubernetes API reports. [LiveStatus] handles
// changes of live balances, [Drift] rows that were edited by hand, and [Breaker] outages of the database.
package resync

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Database has the methods of the database that this package needs. Both return [postgres.ErrUnavailable] while the
// database is unavailable.
type Database interface {
	// Inventory returns the fingerprints of the rows of all sandboxes and SIMs.
	Inventory(ctx context.Context) (*sandboxes.Inventory, error)

	// ChangedAccounts returns the resources whose live balance, counts or deliveries changed since a database time. It
	// also returns the value of since for the next call. That call may return a change again, with the same ChangedAt.
	ChangedAccounts(ctx context.Context, since time.Time) ([]sandboxes.AccountChange, time.Time, error)

	// ChangedExpectations names the Expectations of which more is known since a time of the database. A later answer may name one
	// again, with the same ChangedAt.
	ChangedExpectations(ctx context.Context, since time.Time) ([]sandboxes.ChangedExpectation, error)
}
