// Package lists lists transactions, and has the conditions of a filter for other statements that read them.
package lists

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Transactions lists transactions.
type Transactions struct{ core ledgerdb.Core }

// New returns the transactions of all sandboxes of a database.
func New(core ledgerdb.Core) *Transactions { return &Transactions{core} }

// ListTransactions returns a page of a tenant's transactions, newest first, at most the number limit. The parameter
// after is the id of the last transaction of the previous page, nil for the first page. Pages are stable while
// transactions are added: a new transaction comes before every page that was read.
func (l *Transactions) ListTransactions(
	ctx context.Context,
	tenant int64,
	f Filter,
	after *payments.ID,
	limit int,
) ([]*payments.Transaction, error) {
	return l.listTransactions(ctx, tenant, f, after, nil, limit)
}

// ListNewerTransactions returns the page of [Transactions.ListTransactions] that ends before the transaction with the
// id than. It has the next newer transactions, newest first, at most the number limit.
func (l *Transactions) ListNewerTransactions(
	ctx context.Context,
	tenant int64,
	f Filter,
	than payments.ID,
	limit int,
) ([]*payments.Transaction, error) {
	return l.listTransactions(ctx, tenant, f, nil, &than, limit)
}

func (l *Transactions) listTransactions(
	ctx context.Context,
	tenant int64,
	f Filter,
	after, before *payments.ID,
	limit int,
) ([]*payments.Transaction, error) {
	sql, args := Statement(tenant, f, after, before, limit)
	var found []sqlc.Transaction
	err := l.core.DB.List(ctx, tenant, func(ctx context.Context, scope postgres.DBTX) (err error) {
		found, err = CollectRows[sqlc.Transaction](ctx, scope, sql, args)
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

// CollectRows returns all rows of a statement that package sqlc does not have.
func CollectRows[T any](ctx context.Context, from postgres.DBTX, sql string, args []any) ([]T, error) {
	rows, err := from.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

// Statement returns the statement that lists a page. It has a condition only for the filters that are set, so that
// each combination of filters gets its own plan. One statement for all filters could use no index but the primary key.
// The page is the one after the id after, or the one before the id before; both nil for the first page.
func Statement(tenant int64, f Filter, after, before *payments.ID, limit int) (sql string, args []any) {
	if l, ok := IndexOf(f); ok {
		return l.statement(tenant, f, after, before, limit)
	}
	c := Conditions{Where: []string{"tenant = $1"}, Args: []any{tenant}}
	c.Match(f)
	direction := c.Cursor("id", after, before)
	return newestFirst(fmt.Sprintf("select %[1]s from transactions where %[2]s order by tenant %[3]s, id %[3]s limit $%[4]d",
		ledgerdb.TransactionColumns, strings.Join(c.Where, " and "), direction, len(c.Args)+1), before), append(c.Args, limit)
}

// newestFirst returns a statement that puts the rows of the statement sql in the order of the list. If before is not
// nil, sql returns the rows from the oldest to the newest.
func newestFirst(sql string, before *payments.ID) string {
	if before == nil {
		return sql
	}
	return "select * from (" + sql + ") page order by id desc"
}
