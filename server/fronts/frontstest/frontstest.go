// Package frontstest makes the options of a server with all fronts, for tests that need the whole.
package frontstest

import (
	"crypto/rand"
	"time"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Options are those of a server on a database, with its own copy of the configuration. All latencies are the shortest
// ones, and no request is logged.
func Options(db *ledgertest.Store) fronts.Options {
	return fronts.Options{
		Ledger: db.Ledger, Books: db.Books, Sandboxes: db.Store, Directory: sandboxes.NewDirectory(db.DB), Version: "test",
		Now: time.Now, Draw: func(int64) int64 { return 0 }, Random: rand.Reader,
	}
}
