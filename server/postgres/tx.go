package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Kinds of database transactions. Each ends by itself when its process does not go on with it, because its machine is frozen or cut
// off: its locks would otherwise keep everybody else from a merchant's money for hours. That is sooner than the api gives up a request
// that waits for them.
//
// They plan each statement for the tables as they are, see [planEachTime].
var (
	// IdleLimited is for several statements.
	IdleLimited = pgx.TxOptions{BeginQuery: "begin; " + planEachTime + byIndex + "; set local idle_in_transaction_session_timeout = '5s'"}
	// LockLimited is for what is done for several tenants at once, or one after the other: it does not wait for long for a lock that
	// one of them holds.
	LockLimited = pgx.TxOptions{BeginQuery: "begin; " + planEachTime + byIndex +
		"; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'"}
	// Snapshot is for statements that only read, all as of one moment.
	Snapshot = pgx.TxOptions{BeginQuery: "begin isolation level repeatable read read only; " + planEachTime + "; " +
		"set local idle_in_transaction_session_timeout = '5s'"}
)

// planEachTime has Postgres plan statements for their arguments and the size of the tables each time. Otherwise it keeps a plan as long as
// the connection lives: one from an empty table would read all rows of a full one.
const planEachTime = "set local plan_cache_mode = force_custom_plan"

// byIndex makes Postgres look up each row of a batch by index. Otherwise it takes every batch for a thousand rows, and
// reads whole tables of all sandboxes even for three.
const byIndex = "; set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_hashjoin = off; " +
	"set local enable_mergejoin = off; " + compileNothing

// compileNothing belongs to what switches ways of reading off: where there is no other way, its cost makes Postgres compile the plan, for a
// second.
const compileNothing = "set local jit = off"

// InTx runs f in one database transaction outside the tenant scope.
func (d *DB) InTx(ctx context.Context, options pgx.TxOptions, f func(tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	return pgx.BeginTxFunc(ctx, d.pool, options, f)
}
