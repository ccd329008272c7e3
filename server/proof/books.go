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

// core has the database, which the types of this package share.
type core struct{ db *postgres.DB }

// unscoped returns queries that run outside the tenant scope.
func (c core) unscoped() *sqlc.Queries { return sqlc.New(c.db.Unscoped()) }

// inTx runs f in one database transaction outside the tenant scope.
func (c core) inTx(ctx context.Context, options pgx.TxOptions, f func(q *sqlc.Queries) error) error {
	return c.db.InTx(ctx, options, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}

// tenant returns queries that run in the scope of a tenant, see [postgres.DB.Tenant].
func (c core) tenant(tenant int64) *sqlc.Queries { return sqlc.New(c.db.Tenant(tenant)) }

// Books lists the accounts and the entries of a sandbox for the api, and requests verifications from the workers. It is
// safe for concurrent use.
type Books struct{ core }

// NewBooks returns the books of the sandboxes in a database.
func NewBooks(db *postgres.DB) *Books { return &Books{core{db}} }

// ErrNotVerified means that no worker verified the ledger in time.
var ErrNotVerified = errors.New("no worker has verified the ledger yet")

// AskForPass asks the workers to verify a sandbox's whole ledger, and returns the time of the request, for
// [Books.PassedSince]. It returns [postgres.ErrConfigChanged] for a sandbox that was reset or deleted.
func (b *Books) AskForPass(ctx context.Context, tenant int64) (asked time.Time, err error) {
	asked, err = b.tenant(tenant).AskForPass(ctx, tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return asked, postgres.ErrConfigChanged
	}
	return asked, postgres.ClassifyWrite(err, "asking for a verification of the ledger")
}

// PassedSince reports whether a worker has verified a sandbox's whole ledger after a time. [Books.ListAccounts] then
// returns the result. It returns [postgres.ErrConfigChanged] for a sandbox that was reset or deleted.
func (b *Books) PassedSince(ctx context.Context, tenant int64, asked time.Time) (bool, error) {
	passed, err := b.tenant(tenant).PassedSince(ctx, asked, tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, postgres.ErrConfigChanged
	}
	return passed, postgres.Classify(err, "waiting for the verification of the ledger")
}
