// Package observations observes sandboxes for expectations, evaluates those of resources, and lists them.
package observations

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
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// ErrTooManyRows is returned if the statement of [Observer.Observe] takes longer than 2 s.
var ErrTooManyRows = errors.New("the lines of the expectation read too many rows")

// boundObservation bounds the statement that observes a sandbox, so that it cannot delay payments.
const boundObservation = "set local statement_timeout = '2s'"

// Observed has the observations of a sandbox for an expectation, in one snapshot.
type Observed struct {
	Lines  []expectations.Observation
	Newest *payments.ID // the newest transaction of the sandbox; nil: it has none
	At     time.Time    // by the database's clock
	Tenant int64        // of the sandbox; a reset gives it another tenant
}

const (
	// observedAtOnce is the maximum number of observations that a process makes at a time. It makes at most one at a time
	// of each sandbox. Each may keep a core of the database busy for 2 s.
	observedAtOnce = 2
	// observationWait is the longest time that the first waiting observation of a sandbox may wait. If it has waited
	// longer, further observations of the sandbox are refused.
	observationWait = 8 * time.Second
)

// Observer observes sandboxes for the api.
type Observer struct {
	core      ledgerdb.Core
	observing *postgres.Admission
}

// NewObserver returns an observer of all sandboxes of a database.
func NewObserver(core ledgerdb.Core) *Observer {
	return &Observer{core, postgres.NewAdmission(observedAtOnce, observationWait, core.DB.Now)}
}

// Observing is the admission of observations.
func (o *Observer) Observing() *postgres.Admission { return o.observing }

// Observe returns an observation for each line. If since is not nil, it counts only later transactions, with their
// events and refunds. It returns [ErrTooManyRows] if the statement takes longer than 2 s, and [postgres.ErrOverloaded] if too
// many observations of the sandbox wait.
func (o *Observer) Observe(ctx context.Context, tenant int64, lines []expectations.Line, since *payments.ID) (seen Observed, err error) {
	if err := o.observing.Acquire(ctx, tenant); err != nil {
		return seen, postgres.Classify(err, "waiting to observe a sandbox")
	}
	defer o.observing.Release(tenant)
	err = o.core.DB.InTenantTx(ctx, tenant, func(tx pgx.Tx) (err error) {
		seen, err = observeLines(ctx, tx, tenant, lines, since, nil)
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

// observeLines sends one statement, so that all lines are observed in one snapshot. The parameter then is the past time
// at which the sandbox is observed; nil: now.
func observeLines(
	ctx context.Context, tx pgx.Tx, tenant int64, lines []expectations.Line, since *payments.ID, then *PastTime,
) (seen Observed, err error) {
	if _, err := tx.Exec(ctx, boundObservation); err != nil {
		return seen, err
	}
	sql, args := Statement(tenant, lines, since, then)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return seen, err
	}
	seen.Lines, seen.Tenant = make([]expectations.Observation, len(lines)), tenant
	var line int
	var o expectations.Observation
	var example *[16]byte
	into := []any{&line, &o.Count, &o.MostAttempts, &o.Amount, &example, &o.Ended, &o.Late, &o.NoStore, &seen.At}
	_, err = pgx.ForEachRow(rows, into, func() error {
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

// Statement returns a statement with a part for each line, and a last part for the newest transaction. Each part
// returns one row. The part of a float or test client that does not exist returns no row.
func Statement(tenant int64, lines []expectations.Line, since *payments.ID, then *PastTime) (sql string, args []any) {
	c := observing{Conditions: lists.Conditions{Args: []any{tenant}}, since: since}
	c.enter(then)
	parts := make([]string, 0, len(lines)+1)
	for i := range lines {
		parts = append(parts, c.observed(i, &lines[i], lines))
	}
	const newest = "(select id from transactions where tenant = $1 order by tenant desc, id desc limit 1)"
	parts = append(parts, observation(len(lines), observedColumns{example: newest}, c.given()))
	return strings.Join(parts, " union all "), c.Args
}

// observedColumns are the columns of a part, as SQL; empty: the part has no such column.
type observedColumns struct{ count, attempts, amount, example, ended, late, noStore string }

func observation(line int, c observedColumns, from string) string {
	const sql = "select %d as line, (%s)::integer, (%s)::integer, (%s)::bigint, (%s)::uuid, (%s)::boolean, (%s)::boolean, (%s)::boolean," +
		" now()%s"
	return fmt.Sprintf(sql, line,
		cmp.Or(c.count, "0"), cmp.Or(c.attempts, "0"), cmp.Or(c.amount, "null"), cmp.Or(c.example, "null"), cmp.Or(c.ended, "false"),
		cmp.Or(c.late, "false"), cmp.Or(c.noStore, "false"), from)
}

// maxObserved is the maximum number of rows that the part of a line counts.
const maxObserved = expectations.MaxCount + 1

// observing builds the parts of a statement that observes a sandbox.
type observing struct {
	lists.Conditions
	since *payments.ID // only later transactions count; nil: all do
	past
}

func (c *observing) observed(i int, l *expectations.Line, lines []expectations.Line) string {
	c.Where = []string{"tenant = $1"}
	switch {
	case l.Transactions != nil:
		where := &l.Transactions.Where
		selected, late := c.selected(where, false)
		return observation(i, observedColumns{count: "count(*)", late: late, noStore: c.noStore(where)}, fmt.Sprintf(" from (%s limit %d) t", selected, maxObserved))
	case l.Events != nil:
		return c.observedEvents(i, l.Events)
	case l.Float != nil:
		c.Add("currency = $%d", l.Float.Currency)
		return c.balance(i, "floats")
	case l.TestClient != nil:
		c.Add("msisdn = $%d", l.TestClient.MSISDN)
		return c.balance(i, "sims")
	case l.Refunds != nil:
		c.Add("order_ref = $%d", l.Refunds.Of)
		c.after()
		c.filterThen(lists.Filter{Type: payments.Refund, Status: payments.Success})
		return observation(i, observedColumns{amount: "coalesce(sum(amount), 0)"}, " from transactions t where "+strings.Join(c.Where, " and "))
	default:
		return c.observedOthers(i, lines)
	}
}

func (c *observing) balance(i int, table string) string {
	return observation(i, observedColumns{amount: "balance", late: c.changedLater()}, " from "+table+" where "+strings.Join(c.Where, " and "))
}

// observedOthers returns a part that counts the transactions that no line counts. The example is a transaction that has
// ended, if possible.
func (c *observing) observedOthers(i int, lines []expectations.Line) string {
	c.after()
	c.wasThere()
	outer := c.Where
	for _, counted := range expectations.Counted(lines) {
		c.Where = []string{"true"}
		c.filterThen(filterOf(&counted))
		outer = append(outer, "not ("+strings.Join(c.Where, " and ")+")")
	}
	return observation(i, observedColumns{
		count: "count(*)", example: "(array_agg(id order by ended desc, id))[1]", ended: "coalesce(bool_or(ended), false)", late: c.anyUnsure(),
	}, fmt.Sprintf(" from (select id, %s as ended%s from transactions t where %s limit %d) t",
		c.hadEnded(), c.unsure(), strings.Join(outer, " and "), maxObserved))
}

// observedEvents returns a part that counts the selected events in the state of the line. The part also has the largest
// number of attempts of a selected event.
func (c *observing) observedEvents(i int, e *expectations.Events) string {
	events, callbacks := c.eventOf(), c.callbacksOf()
	where, from := e.Where.Where, events+" union all "+callbacks
	if kind := expectations.TypeOfEvent(e.Where.Event); kind != "" {
		where.Type, from = string(kind), events
	} else if e.Where.Event == payments.CallbackEvent {
		from = callbacks
	}
	selected, _ := c.selected(&where, true)
	counted, also := "true", ""
	if e.State != "" {
		counted = "e.state = '" + e.State + "'" // Parse allows only names of states
		also = " where " + counted
		if e.MaxAttempts != nil {
			also += fmt.Sprintf(" or e.attempts > %d", *e.MaxAttempts)
		}
	}
	return observation(i, observedColumns{
		count: "count(*) filter (where e.counted)", attempts: "coalesce(max(e.attempts), 0)", noStore: c.noStore(&where),
	}, fmt.Sprintf(
		" from (select %s as counted, e.attempts from (%s) t cross join lateral (%s) e%s limit %d) e", counted, selected, from, also, maxObserved,
	))
}

// selected returns a query for the ids of the transactions that an expectation's conditions select. With ended=true, it
// selects only those that have ended. The column late is as in [observedColumns].
func (c *observing) selected(w *expectations.Where, ended bool) (query, late string) {
	f := filterOf(w)
	columns, late := "id", ""
	if ended {
		c.Where = append(c.Where, c.hadEnded())
	} else if f.Status == "" || f.Status == payments.Pending {
		c.wasThere()
		columns, late = columns+c.unsure(), c.anyUnsure()
	}
	index, ok := lists.IndexOf(f)
	if !ok || c.at != 0 && f.Status == payments.Pending {
		c.filterThen(f)
		c.after()
		return "select " + columns + " from transactions t where " + strings.Join(c.Where, " and "), late
	}
	combinations := index.Combinations(&c.Conditions)
	if c.at != 0 && f.Status != "" {
		c.Where = append(c.Where, c.hadEnded())
	}
	c.Match(lists.Filter{Store: f.Store, MSISDN: f.MSISDN, CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore})
	c.after()
	return fmt.Sprintf(`select found.* from %s, lateral (
			select %s from listed_transactions t where %s order by id desc limit %d) found`,
		combinations, columns, strings.Join(c.Where, " and "), maxObserved), late
}

// noStore returns the column that tells whether the sandbox never had the store of a condition; "" without a store.
func (c *observing) noStore(w *expectations.Where) string {
	if w.Application == "" {
		return ""
	}
	c.Args = append(c.Args, w.Application)
	return fmt.Sprintf("not exists (select from stores where tenant = $1 and slug = $%d)", len(c.Args))
}

// after adds a condition that excludes the transactions up to the parameter since of the statement.
func (c *observing) after() {
	if c.since != nil {
		c.Add("id > $%d", postgres.UUID(*c.since))
	}
}

// filterOf returns the filter of conditions that were parsed.
func filterOf(w *expectations.Where) lists.Filter {
	return lists.Filter{
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
