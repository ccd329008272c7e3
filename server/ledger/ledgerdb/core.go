// Package ledgerdb reads the rows of the ledger: what package ledger and the packages in its folder share.
package ledgerdb

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// ErrNotFound is returned for a row that the tenant does not have.
var ErrNotFound = errors.New("not found")

// Core has the fields that all types of these packages share.
type Core struct {
	DB        *postgres.DB
	Sandboxes *sandboxes.Registry
}

// Unscoped returns queries outside the tenant scope: for the configuration, and for sweeps over all sandboxes.
func (c Core) Unscoped() *sqlc.Queries { return sqlc.New(c.DB.Unscoped()) }

// Polling returns queries outside the tenant scope, for the statements with which workers poll, and for those that anybody
// may cause.
func (c Core) Polling() *sqlc.Queries { return sqlc.New(c.DB.GenericPlans()) }

// InTx runs f in one database transaction outside the tenant scope.
func (c Core) InTx(ctx context.Context, f func(q *sqlc.Queries) error) error {
	return c.InTxOf(ctx, postgres.IdleLimited, f)
}

// InTxOf is [Core.InTx] with options.
func (c Core) InTxOf(ctx context.Context, options pgx.TxOptions, f func(q *sqlc.Queries) error) error {
	return c.DB.InTx(ctx, options, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}

// Tenant returns queries in the scope of a tenant, see [postgres.DB.Tenant].
func (c Core) Tenant(tenant int64) *sqlc.Queries { return sqlc.New(c.DB.Tenant(tenant)) }

// InTenantTx is [postgres.DB.InTenantTx].
func (c Core) InTenantTx(ctx context.Context, tenant int64, f func(q *sqlc.Queries) error) error {
	return c.DB.InTenantTx(ctx, tenant, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}
