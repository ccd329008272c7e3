package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Filter says which transactions are listed. A zero field filters nothing.
type Filter struct {
	Country   payments.Country
	Operator  payments.Operator
	Status    payments.Status
	Type      payments.Type
	OrderRef  string
	Store     string
	Reference string
	MSISDN    string
	// CreatedAfter includes its own time, and CreatedBefore excludes it, so that each transaction is in exactly one of two
	// months that follow each other. Both are compared in whole milliseconds, as callers see the time of creation.
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
}

// ListTransactions returns a page of a tenant's transactions, newest first, at most the number limit. The parameter
// after is the id of the last transaction of the previous page, nil for the first page. Pages are stable while
// transactions are added: a new transaction comes before every page that was read.
func (l *Ledger) ListTransactions(
	ctx context.Context,
	tenant int64,
	f Filter,
	after *payments.ID,
	limit int,
) ([]*payments.Transaction, error) {
	return l.listTransactions(ctx, tenant, f, after, nil, limit)
}

// ListNewerTransactions returns the page of [Ledger.ListTransactions] that ends before the transaction than: the
// transactions that were created after it, newest first, at most the number limit.
func (l *Ledger) ListNewerTransactions(
	ctx context.Context,
	tenant int64,
	f Filter,
	than payments.ID,
	limit int,
) ([]*payments.Transaction, error) {
	return l.listTransactions(ctx, tenant, f, nil, &than, limit)
}

func (l *Ledger) listTransactions(
	ctx context.Context,
	tenant int64,
	f Filter,
	after, before *payments.ID,
	limit int,
) ([]*payments.Transaction, error) {
	sql, args := listStatement(tenant, f, after, before, limit)
	var found []sqlc.Transaction
	err := l.core.DB.List(ctx, tenant, func(ctx context.Context, scope postgres.DBTX) (err error) {
		found, err = collect[sqlc.Transaction](ctx, scope, sql, args)
		return err
	})
	if err != nil {
		return nil, postgres.Classify(err, "listing transactions")
	}
	transactions := make([]*payments.Transaction, len(found))
	for i := range found {
		transactions[i] = ledgerdb.TransactionOf(&found[i])
	}
	return transactions, ledgerdb.AddSent(ctx, l.core.Tenant(tenant), tenant, transactions...)
}

// collect returns all rows of a statement that package sqlc does not have.
func collect[T any](ctx context.Context, from postgres.DBTX, sql string, args []any) ([]T, error) {
	rows, err := from.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

// listStatement returns the statement that lists a page. It has a condition only for the filters that are set, so that
// each combination of filters gets its own plan. One statement for all filters could use no index but the primary key.
// The page is the one after the id after, or the one before the id before; both nil for the first page.
func listStatement(tenant int64, f Filter, after, before *payments.ID, limit int) (sql string, args []any) {
	if l, ok := listIndexOf(f); ok {
		return l.statement(tenant, f, after, before, limit)
	}
	c := conditions{where: []string{"tenant = $1"}, args: []any{tenant}}
	c.filter(f)
	direction := c.cursor("id", after, before)
	return newestFirst(fmt.Sprintf("select %[1]s from transactions where %[2]s order by tenant %[3]s, id %[3]s limit $%[4]d",
		ledgerdb.TransactionColumns, strings.Join(c.where, " and "), direction, len(c.args)+1), before), append(c.args, limit)
}

// cursor adds the condition that limits a list to one side of an id. It returns the direction in which the list is read
// from there.
func (c *conditions) cursor(column string, after, before *payments.ID) (direction string) {
	if before != nil {
		c.add(column+" > $%d", postgres.UUID(*before))
		return "asc"
	}
	if after != nil {
		c.add(column+" < $%d", postgres.UUID(*after))
	}
	return "desc"
}

// newestFirst returns a statement with the rows of another one, in the order of the list. The other statement reads
// from the oldest row of the page on if before is not nil.
func newestFirst(sql string, before *payments.ID) string {
	if before == nil {
		return sql
	}
	return "select * from (" + sql + ") page order by id desc"
}

// conditions are the conditions and the arguments of a list's filters.
type conditions struct {
	where []string
	args  []any
}

// add adds a condition. The parameter text has %d in place of the number of the argument.
func (c *conditions) add(text string, value any) {
	c.args = append(c.args, value)
	c.where = append(c.where, fmt.Sprintf(text, len(c.args)))
}

// filter adds the conditions of a filter of transactions.
func (c *conditions) filter(f Filter) {
	texts := []struct{ column, value string }{
		{"country", string(f.Country)}, {"operator", string(f.Operator)}, {"status", string(f.Status)},
		{"type", string(f.Type)}, {"order_ref", f.OrderRef}, {"store", f.Store}, {"msisdn", f.MSISDN},
	}
	for _, t := range texts {
		if t.value != "" {
			c.add(t.column+" = $%d", t.value)
		}
	}
	if f.Reference != "" {
		c.add("id = (select id from transactions_by_reference where reference_key = $1::bigint::text || ' ' || $%d::text)", f.Reference)
	}
	c.created("created_at", f.CreatedAfter, f.CreatedBefore)
}

// created adds the bounds after and before of a time; nil for no bound. The bound after includes its own time, and before
// excludes it. The microseconds of a bound do not count: a clock shows them, and the time of a row does not.
func (c *conditions) created(column string, after, before *time.Time) {
	if after != nil {
		c.add(column+" >= $%d", after.Truncate(time.Millisecond))
	}
	if before != nil {
		c.add(column+" < $%d", before.Truncate(time.Millisecond))
	}
}
