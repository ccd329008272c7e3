package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Kinds of database transactions. Postgres ends an idle one after a few seconds: the machine of its process may be
// frozen or cut off, and its locks would keep all others from a merchant's money for hours. That is sooner than the api
// gives up a request that waits for the locks.
//
// Postgres plans each of their statements anew, see [planEachTime].
var (
	// IdleLimited is for database transactions of several statements.
	IdleLimited = pgx.TxOptions{BeginQuery: "begin; " + planEachTime + byIndex + "; set local idle_in_transaction_session_timeout = '5s'"}
	// LockLimited is for work on several tenants, at once or in turn: it does not wait long for a lock, so that one
	// tenant does not delay the others.
	LockLimited = pgx.TxOptions{BeginQuery: "begin; " + planEachTime + byIndex +
		"; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'"}
	// Snapshot is for statements that only read, all as of one moment.
	Snapshot = pgx.TxOptions{BeginQuery: "begin isolation level repeatable read read only; " + planEachTime + "; " +
		"set local idle_in_transaction_session_timeout = '5s'"}
)

// planEachTime makes Postgres plan statements each time, for their arguments and the present size of the tables.
// Otherwise it keeps a plan for the life of the connection, and a plan made for an empty table scans all rows of a full
// one.
const planEachTime = "set local plan_cache_mode = force_custom_plan"

// byIndex makes Postgres look up each row of a batch by index. Otherwise it takes every batch for a thousand rows, and
// reads whole tables of all sandboxes even for three.
const byIndex = "; set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_hashjoin = off; " +
	"set local enable_mergejoin = off; " + compileNothing

// compileNothing goes with the settings that switch kinds of scans off. Where Postgres has no other scan, it plans one
// at a cost so high that it would compile the plan (JIT), which takes a second.
const compileNothing = "set local jit = off"

// InTx runs f in one database transaction outside the tenant scope.
func (d *DB) InTx(ctx context.Context, options pgx.TxOptions, f func(tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	return pgx.BeginTxFunc(ctx, d.pool, options, f)
}
