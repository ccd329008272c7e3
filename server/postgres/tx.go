package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Options of database transactions. Postgres ends an idle database transaction after 5 seconds, since the machine of
// its process may be frozen or cut off. Otherwise its locks could block a merchant's float for hours. The api waits for
// locks longer than that before it gives up a request.
//
// Postgres plans every statement of these transactions anew, see planEachTime. IdleLimitedKept is an exception.
var (
	// IdleLimited is for database transactions of several statements.
	IdleLimited = pgx.TxOptions{BeginQuery: "begin; " + planEachTime + byIndex + "; set local idle_in_transaction_session_timeout = '5s'"}
	// LockLimited is for work on several tenants, at once or in turn. It waits for a lock at most 1 s, so that one
	// tenant does not delay the others.
	LockLimited = pgx.TxOptions{BeginQuery: "begin; " + planEachTime + byIndex +
		"; set local idle_in_transaction_session_timeout = '5s'; set local lock_timeout = '1s'"}
	// IdleLimitedKept is IdleLimited for statements that a process sends many times a second. As with [DB.Frequent],
	// Postgres keeps their plans.
	IdleLimitedKept = pgx.TxOptions{BeginQuery: strings.Replace(IdleLimited.BeginQuery, planEachTime, keepPlans, 1)}
	// Snapshot is for statements that only read, all from one snapshot.
	Snapshot = pgx.TxOptions{BeginQuery: "begin isolation level repeatable read read only; " + planEachTime + "; " +
		"set local idle_in_transaction_session_timeout = '5s'"}
)

// planEachTime makes Postgres plan statements each time, for their arguments and the present size of the tables.
// Otherwise it keeps a plan for the life of the connection, and a plan made for an empty table scans all rows of a full
// one.
const planEachTime = "set local plan_cache_mode = force_custom_plan"

// keepPlans makes Postgres plan a statement once for each connection, for any arguments.
const keepPlans = "set local plan_cache_mode = force_generic_plan"

// byIndex makes Postgres look up each row of a batch by index. Otherwise Postgres estimates every batch at a thousand
// rows, and scans whole tables even for three rows.
const byIndex = "; set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_hashjoin = off; " +
	"set local enable_mergejoin = off; " + compileNothing

// compileNothing switches JIT compilation off where scan types are disabled. A disabled scan has a very high estimated
// cost. If Postgres must use one, the cost makes it compile the plan. This takes a second.
const compileNothing = "set local jit = off"

// InTx runs f in one database transaction outside the tenant scope.
func (d *DB) InTx(ctx context.Context, options pgx.TxOptions, f func(tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	return pgx.BeginTxFunc(ctx, d.pool, options, f)
}
