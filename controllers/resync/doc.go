// Package resync reconciles resources again for what no watch of the Kubernetes API reports: live balances ([LiveStatus]), rows
// that somebody changed by hand ([Drift]), and a database that was unavailable ([Breaker]).
package resync

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Database has the methods of Postgres that this package needs. Both return [postgres.ErrUnavailable] while the
// database is unavailable.
type Database interface {
	// Inventory compares the rows of all sandboxes and SIMs with what the controller wrote last.
	Inventory(ctx context.Context) (*sandboxes.Inventory, error)

	// ChangedAccounts names the resources whose live balance, counts or deliveries changed since a time of the database, and
	// returns the time to ask from next. That answer may name a change again, with the same ChangedAt.
	ChangedAccounts(ctx context.Context, since time.Time) ([]sandboxes.AccountChange, time.Time, error)
}
