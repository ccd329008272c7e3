// Package frontstest returns the options of a server with all fronts, for tests.
package frontstest

import (
	"crypto/rand"
	"time"

	"github.com/cauri-dev/cauri/controllers/localapi"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Options returns the options of a server on db, with its own cache of the configuration. Each latency is the shortest
// possible one, and an answer waits longer for a payer than a test takes. No request is logged.
func Options(db *ledgertest.Store) fronts.Options {
	return fronts.Options{
		Ledger: db.Ledger, Books: db.Books, Sandboxes: db.Registry, Directory: sandboxes.NewDirectory(db.DB), Version: "test", Console: true,
		Now: time.Now, Draw: func(int64) int64 { return 0 }, Random: rand.Reader, PayerWait: time.Hour,
		FaultRules: localapi.FaultProblems,
	}
}
