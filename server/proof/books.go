// Package proof shows that the money of a sandbox adds up: it lists accounts and double entries for the api, and
// verifies for the worker that every balance follows from its movements.
//
// Every method returns an error that is [postgres.ErrUnavailable] when the database cannot be reached or cannot serve.
package proof

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// core is what the types of this package share.
type core struct{ db *postgres.DB }

// system runs queries outside the tenant scope.
func (c core) system() *sqlc.Queries { return sqlc.New(c.db.System()) }

// inTx runs f in one database transaction outside the tenant scope.
func (c core) inTx(ctx context.Context, options pgx.TxOptions, f func(q *sqlc.Queries) error) error {
	return c.db.InTx(ctx, options, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}

// tenant runs queries in the scope of a tenant, see [postgres.DB.Tenant].
func (c core) tenant(tenant int64) *sqlc.Queries { return sqlc.New(c.db.Tenant(tenant)) }

// Books lists the accounts and the entries of a sandbox for the api, and asks a worker for a verification. It is safe
// for concurrent use.
type Books struct{ core }

// NewBooks reads the books in a database.
func NewBooks(db *postgres.DB) *Books { return &Books{core{db}} }

// ErrNotVerified is returned where no worker verified the ledger in time.
var ErrNotVerified = errors.New("no worker has verified the ledger yet")

// passPoll is how often [Books.VerifyLedger] asks whether the pass is over.
const passPoll = 250 * time.Millisecond

// VerifyLedger has a worker verify the whole ledger of a sandbox, and waits for the result, which is then where that of
// every verification is. It returns [ErrNotVerified] if ctx ends before, and [postgres.ErrConfigChanged] for a sandbox
// that was reset or deleted.
func (b *Books) VerifyLedger(ctx context.Context, tenant int64) error {
	asked, err := b.tenant(tenant).AskForPass(ctx, tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return postgres.ErrConfigChanged
	}
	if err != nil {
		return postgres.ClassifyWrite(err, "asking for a verification of the ledger")
	}
	for {
		passed, err := b.tenant(tenant).PassedSince(ctx, asked, tenant)
		switch {
		case ctx.Err() != nil:
			return ErrNotVerified
		case errors.Is(err, pgx.ErrNoRows):
			return postgres.ErrConfigChanged
		case err != nil:
			return postgres.Classify(err, "waiting for the verification of the ledger")
		case passed:
			return nil
		}
		timer := time.NewTimer(passPoll)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ErrNotVerified
		case <-timer.C:
		}
	}
}
