// Package growth fills a database in minutes with the transactions of months. It makes them in bulk with SQL, with all
// related rows, so that all invariants hold.
package growth

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Size is the target size of a database.
type Size struct {
	Transactions int64
	Sandboxes    int64
	// Large is the number of transactions of the first sandbox; 0: the same as the others. Rounding may change the size
	// by a few rows.
	Large int64
}

func (s Size) check() error {
	if s.Sandboxes < 1 || s.Transactions < s.Sandboxes || s.Large < 0 || s.Large > 0 && (s.Sandboxes < 2 || s.Large*2 > s.Transactions) {
		return fmt.Errorf(
			"invalid size %+v: each sandbox needs a transaction, and a large sandbox needs other sandboxes and at most half of all transactions",
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

// chunk is the number of transactions that one statement makes.
const chunk = 250_000

// Fill creates sandboxes and their transactions in a database with the current schema, as its owner. It returns the
// tenant number of the first sandbox; the others follow. It creates the indexes of the large tables at the end and
// analyzes the database, as autovacuum does.
func Fill(ctx context.Context, db *pgx.Conn, size Size, progress func(string)) (first int64, err error) {
	if err := size.check(); err != nil {
		return 0, err
	}
	if _, err := db.Exec(ctx, "set synchronous_commit = off"); err != nil { // only for this connection: the data can be made again
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
	progress("vacuum")
	f.exec("vacuum (analyze)")
	f.exec("checkpoint")
	f.exec("reset synchronous_commit")
	if f.err != nil {
		return 0, fmt.Errorf("filling the database: %w", f.err)
	}
	return first, nil
}

// filling is a run of Fill. After an error it does nothing more.
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

// withoutIndexes drops the indexes of tables and returns the statements that create them again. Filling is many times
// faster without them.
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
