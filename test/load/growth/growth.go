// Package growth fills a database with as many transactions as it would have after months, in minutes: set by set in the database
// itself, with all that belongs to them, so that everything holds that always has to.
package growth

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Size is how large a database is to become.
type Size struct {
	Transactions int64
	Sandboxes    int64
	// Large is how many of the transactions the first sandbox has; 0: as many as each other one. The size is met to a few rows.
	Large int64
}

func (s Size) check() error {
	if s.Sandboxes < 1 || s.Transactions < s.Sandboxes || s.Large < 0 || s.Large > 0 && (s.Sandboxes < 2 || s.Large*2 > s.Transactions) {
		return fmt.Errorf(
			"a database of %+v cannot be made: there has to be a transaction for each sandbox, and a large one needs others beside it and no more than half of all",
			s,
		)
	}
	return nil
}

// Key is the API key of the n-th sandbox, from 1.
func Key(n int64) string { return fmt.Sprint("cauri_sk_test_growth_", n) }

//go:embed sandboxes.sql
var sandboxes string

//go:embed transactions.sql
var transactions string

//go:embed balances.sql
var balances string

// chunk is how many transactions are made by one statement.
const chunk = 250_000

// Fill makes sandboxes and their transactions in a database with the present schema, by a connection of its owner. It returns the
// tenant number of the first sandbox; the others follow it. The indexes of the large tables are made again in the end, and the
// database knows then what it holds, as after its autovacuum has been there.
func Fill(ctx context.Context, db *pgx.Conn, size Size, progress func(string)) (first int64, err error) {
	if err := size.check(); err != nil {
		return 0, err
	}
	if _, err := db.Exec(ctx, "set synchronous_commit = off"); err != nil { // of this connection, for what can be made again
		return 0, fmt.Errorf("filling the database: %w", err)
	}
	if err := db.QueryRow(ctx, "select nextval('tenant_numbers')").Scan(&first); err != nil {
		return 0, fmt.Errorf("filling the database: %w", err)
	}
	last := first + size.Sandboxes - 1
	f := filling{ctx: ctx, db: db}
	f.exec("select setval('tenant_numbers', $1)", last)
	f.exec(sandboxes, first, size.Sandboxes)
	restore := f.withoutIndexes("transactions", "events", "delivery_attempts")
	end := time.Now()
	for from := int64(1); from <= size.Transactions && f.err == nil; from += chunk {
		to := min(from+chunk-1, size.Transactions)
		f.exec(transactions, from, to, size.Transactions, first, size.Sandboxes, size.Large, end)
		progress(fmt.Sprintf("%d of %d transactions", to, size.Transactions))
	}
	for _, statement := range restore {
		progress(statement)
		f.exec(statement)
	}
	f.exec(balances, first, last)
	progress("vacuum")
	f.exec("vacuum (analyze)")
	f.exec("checkpoint")
	f.exec("reset synchronous_commit")
	if f.err != nil {
		return 0, fmt.Errorf("filling the database: %w", f.err)
	}
	return first, nil
}

// filling is a run of Fill; after an error it does nothing more.
type filling struct {
	ctx context.Context
	db  *pgx.Conn
	err error
}

func (f *filling) exec(sql string, args ...any) {
	if f.err == nil {
		_, f.err = f.db.Exec(f.ctx, sql, args...)
	}
}

// withoutIndexes drops the indexes of tables, which are filled many times faster so, and returns the statements that make them
// again.
func (f *filling) withoutIndexes(tables ...string) (restore []string) {
	type index struct{ Drop, Make string }
	if f.err != nil {
		return nil
	}
	rows, err := f.db.Query(
		f.ctx,
		`select case when k.oid is not null then format('alter table %s drop constraint %I', i.indrelid::regclass, k.conname)
			else format('drop index %s', i.indexrelid::regclass) end,
		case when k.oid is not null then format('alter table %s add constraint %I %s', i.indrelid::regclass, k.conname,
			pg_get_constraintdef(k.oid))
			else pg_get_indexdef(i.indexrelid) end
		from pg_index i left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u')
		where i.indrelid = any ($1::text[]::regclass[]) order by i.indexrelid`,
		tables,
	)
	if err != nil {
		f.err = err
		return nil
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	f.err = err
	for _, i := range indexes {
		f.exec(i.Drop)
		restore = append(restore, i.Make)
	}
	return restore
}
