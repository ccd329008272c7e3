package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Kinds of database transactions. Each ends by itself when its process does not go on with it, because its machine is frozen or cut
// off: its locks would otherwise keep everybody else from a merchant's money for hours. That is sooner than the api gives up a request
// that waits for them.
var (
	// IdleLimited is for several statements.
	IdleLimited = pgx.TxOptions{BeginQuery: "begin; set local idle_in_transaction_session_timeout = '5s'"}
	// LockLimited is for what is done for several tenants at once, or one after the other: it does not wait for long for a lock that
	// one of them holds.
	LockLimited = pgx.TxOptions{BeginQuery: "begin; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'"}
	// Snapshot reads all of one moment.
	Snapshot = pgx.TxOptions{BeginQuery: "begin isolation level repeatable read read only; " +
		"set local idle_in_transaction_session_timeout = '5s'"}
)

// InTx runs f in one database transaction outside the tenant scope.
func (d *DB) InTx(ctx context.Context, options pgx.TxOptions, f func(tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	return pgx.BeginTxFunc(ctx, d.pool, options, f)
}
