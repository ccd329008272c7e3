package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// ErrTooManyRows is returned if the statement of [Ledger.Observe] takes longer than 2 s.
var ErrTooManyRows = errors.New("the lines of the expectation read too many rows")

// boundObservation bounds the statement that observes a sandbox, so that it cannot delay payments.
const boundObservation = "set local statement_timeout = '2s'"

// Observed has the observations of a sandbox for an expectation, in one snapshot.
type Observed struct {
	Lines  []expectations.Observation
	Newest *payments.ID // the newest transaction of the sandbox; nil: it has none
	At     time.Time    // by the database's clock
	Tenant int64        // of the sandbox, which has another one after a reset
}

// Observe returns an observation for each line. If since is not nil, it counts only later transactions, with their
// events and refunds. It returns [ErrTooManyRows] if the statement takes longer than 2 s.
func (l *Ledger) Observe(ctx context.Context, tenant int64, lines []expectations.Line, since *payments.ID) (seen Observed, err error) {
	err = l.db.InTenantTx(ctx, tenant, func(tx pgx.Tx) (err error) {
		seen, err = observe(ctx, tx, tenant, lines, since)
		return err
	})
	return seen, classifyObservation(err)
}

func classifyObservation(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == pgerrcode.QueryCanceled {
		return ErrTooManyRows
	}
	return postgres.Classify(err, "observing a sandbox")
}

// observe sends one statement, so that all lines are observed in one snapshot.
func observe(
	ctx context.Context, tx pgx.Tx, tenant int64, lines []expectations.Line, since *payments.ID,
) (seen Observed, err error) {
	if _, err := tx.Exec(ctx, boundObservation); err != nil {
		return seen, err
	}
	sql, args := observeStatement(tenant, lines, since)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return seen, err
	}
	seen.Lines, seen.Tenant = make([]expectations.Observation, len(lines)), tenant
	var line int
	var o expectations.Observation
	var example *[16]byte
	_, err = pgx.ForEachRow(rows, []any{&line, &o.Count, &o.MostAttempts, &o.Amount, &example, &o.Ended, &seen.At}, func() error {
		if line == len(lines) {
			seen.Newest = (*payments.ID)(example)
			return nil
		}
		o.Example = (*payments.ID)(example)
		seen.Lines[line] = o
		return nil
	})
	return seen, err
}

// observeStatement returns a statement with a part for each line, and a part for the newest transaction. A part returns
// one row. It returns no row for a float or test client that does not exist.
func observeStatement(tenant int64, lines []expectations.Line, since *payments.ID) (sql string, args []any) {
	c := conditions{args: []any{tenant}}
	parts := make([]string, 0, len(lines)+1)
	for i := range lines {
		parts = append(parts, c.observed(i, &lines[i], lines, since))
	}
	const newest = "(select id from transactions where tenant = $1 order by tenant desc, id desc limit 1)"
	parts = append(parts, observation(len(lines), observedColumns{example: newest}, ""))
	return strings.Join(parts, " union all "), c.args
}

// observedColumns are the columns of a part, as SQL; empty: the part has no such column.
type observedColumns struct{ count, attempts, amount, example, ended string }

func observation(line int, c observedColumns, from string) string {
	return fmt.Sprintf("select %d as line, (%s)::integer, (%s)::integer, (%s)::bigint, (%s)::uuid, (%s)::boolean, now()%s", line,
		cmp.Or(c.count, "0"), cmp.Or(c.attempts, "0"), cmp.Or(c.amount, "null"), cmp.Or(c.example, "null"), cmp.Or(c.ended, "false"), from)
}

// maxObserved is the most rows that a line counts.
const maxObserved = expectations.MaxCount + 1

func (c *conditions) observed(i int, l *expectations.Line, lines []expectations.Line, since *payments.ID) string {
	c.where = []string{"tenant = $1"}
	switch {
	case l.Transactions != nil:
		return observation(i, observedColumns{count: "count(*)"},
			fmt.Sprintf(" from (%s limit %d) t", c.selected(&l.Transactions.Where, since), maxObserved))
	case l.Events != nil:
		return c.observedEvents(i, l.Events, since)
	case l.Float != nil:
		c.add("currency = $%d", l.Float.Currency)
		return observation(i, observedColumns{amount: "balance"}, " from floats where "+strings.Join(c.where, " and "))
	case l.TestClient != nil:
		c.add("msisdn = $%d", l.TestClient.MSISDN)
		return observation(i, observedColumns{amount: "balance"}, " from sims where "+strings.Join(c.where, " and "))
	case l.Refunds != nil:
		c.add("order_ref = $%d", l.Refunds.Of)
		c.after(since)
		return observation(i, observedColumns{amount: "coalesce(sum(amount), 0)"}, " from transactions where type = 'refund' and "+
			"status = 'SUCCESS' and "+strings.Join(c.where, " and "))
	default:
		return c.observedOthers(i, lines, since)
	}
}

// observedOthers returns a part that counts the transactions that no line counts. The example is a transaction that has
// ended, if possible.
func (c *conditions) observedOthers(i int, lines []expectations.Line, since *payments.ID) string {
	c.after(since)
	outer := c.where
	for _, counted := range expectations.Counted(lines) {
		c.where = []string{"true"}
		c.filter(filterOf(&counted))
		outer = append(outer, "not ("+strings.Join(c.where, " and ")+")")
	}
	return observation(i, observedColumns{
		count: "count(*)", example: "(array_agg(id order by status <> 'PENDING' desc, id))[1]", ended: "coalesce(bool_or(status <> 'PENDING'), false)",
	}, fmt.Sprintf(" from (select id, status from transactions where %s limit %d) t", strings.Join(outer, " and "), maxObserved))
}

// observedEvents returns a part that counts the selected events in the state of the line. The part also has the largest
// number of attempts of a selected event.
func (c *conditions) observedEvents(i int, e *expectations.Events, since *payments.ID) string {
	const events = "(select state, attempts from events where tenant = $1 and id = t.id limit 1)"
	const callbacks = "(select state, attempts from native_callbacks where tenant = $1 and transaction_id = t.id and " +
		"id between first_callback_id(t.id) and last_callback_id(t.id) limit 16)"
	where, from := e.Where.Where, events+" union all "+callbacks
	if kind := expectations.TypeOfEvent(e.Where.Event); kind != "" {
		where.Type, from = string(kind), events
	} else if e.Where.Event == payments.CallbackEvent {
		from = callbacks
	}
	selected := c.selected(&where, since)
	counted, also := "true", ""
	if e.State != "" {
		counted = "e.state = '" + e.State + "'" // Parse allows only names of states
		also = " where " + counted
		if e.MaxAttempts != nil {
			also += fmt.Sprintf(" or e.attempts > %d", *e.MaxAttempts)
		}
	}
	return observation(i, observedColumns{count: "count(*) filter (where e.counted)", attempts: "coalesce(max(e.attempts), 0)"}, fmt.Sprintf(
		" from (select %s as counted, e.attempts from (%s) t cross join lateral (%s) e%s limit %d) e", counted, selected, from, also, maxObserved,
	))
}

// selected returns a query for the ids of the transactions that an expectation's conditions select.
func (c *conditions) selected(w *expectations.Where, since *payments.ID) string {
	f := filterOf(w)
	index, ok := listIndexOf(f)
	if !ok {
		c.filter(f)
		c.after(since)
		return "select id from transactions where " + strings.Join(c.where, " and ")
	}
	c.where = append(c.where, "status = s.status", "type = k.type", "operator = o.operator", "country = c.country")
	c.filter(Filter{Store: f.Store, MSISDN: f.MSISDN, CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore})
	c.after(since)
	n := len(c.args)
	c.args = append(c.args, texts(index.statuses), texts(index.types), texts(index.operators), texts(index.countries))
	return fmt.Sprintf(`select found.id from unnest($%d::text[]::transaction_status[]) s (status),
		unnest($%d::text[]::transaction_type[]) k (type), unnest($%d::text[]) o (operator), unnest($%d::text[]) c (country), lateral (
			select id from listed_transactions where %s order by id desc limit %d) found`,
		n+1, n+2, n+3, n+4, strings.Join(c.where, " and "), maxObserved)
}

// after adds a condition that excludes the transactions up to since. It adds none if since is nil.
func (c *conditions) after(since *payments.ID) {
	if since != nil {
		c.add("id > $%d", postgres.UUID(*since))
	}
}

// filterOf returns the filter of conditions that were parsed.
func filterOf(w *expectations.Where) Filter {
	return Filter{
		Country: payments.Country(w.Country), Operator: payments.Operator(w.Operator), Status: payments.Status(w.Status),
		Type: payments.Type(w.Type), OrderRef: w.OrderRef, Store: w.Application, Reference: w.Reference, MSISDN: w.MSISDN,
		CreatedAfter: timeOf(w.CreatedAfter), CreatedBefore: timeOf(w.CreatedBefore),
	}
}

func timeOf(text string) *time.Time {
	t, ok := payments.ParseTime(text)
	if !ok {
		return nil // no time was given; invalid times were refused before
	}
	return &t
}
