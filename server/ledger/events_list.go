package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// ListEvents returns a page of at most limit events of a tenant, newest transaction first. A callback comes before the
// event of its transaction. after is the last event of the previous page, nil for the first page. Pages are stable: an
// event that exists when the first page is read is neither left out nor repeated.
func (l *Ledger) ListEvents(ctx context.Context, tenant int64, f EventFilter, after *payments.EventID, limit int) ([]Event, error) {
	return l.listEvents(ctx, tenant, f, after, nil, limit)
}

// ListNewerEvents returns the page of [Ledger.ListEvents] that ends before the event than, at most the number limit.
func (l *Ledger) ListNewerEvents(ctx context.Context, tenant int64, f EventFilter, than payments.EventID, limit int) ([]Event, error) {
	return l.listEvents(ctx, tenant, f, nil, &than, limit)
}

func (l *Ledger) listEvents(
	ctx context.Context, tenant int64, f EventFilter, after, before *payments.EventID, limit int,
) ([]Event, error) {
	sql, args := eventsStatement(tenant, f, after, before, limit)
	var events []Event
	if sql == "" {
		return nil, nil
	}
	err := l.core.DB.List(ctx, tenant, func(ctx context.Context, scope postgres.DBTX) (err error) {
		events, err = lists.CollectRows[Event](ctx, scope, sql, args)
		return err
	})
	return events, postgres.Classify(err, "listing events")
}

// eventsStatement returns the statement that lists a page. Events and callbacks have a table each. A list of both
// merges the nearest rows of each table, in the order of ids. The page is the one after the event after, or the one
// before the event before; both nil for the first page.
func eventsStatement(tenant int64, f EventFilter, after, before *payments.EventID, limit int) (sql string, args []any) {
	args = []any{tenant, limit}
	direction := "desc"
	if before != nil {
		direction = "asc"
	}
	var parts []string
	if f.Callback == nil || !*f.Callback {
		part := lists.Conditions{Where: []string{"e.tenant = $1"}, Args: args}
		parts = append(parts, listedEvents(&part, f, after, before))
		args = part.Args
	}
	if f.Type == "" && f.State != EventRecorded && (f.Callback == nil || *f.Callback) {
		part := lists.Conditions{Where: []string{"n.tenant = $1"}, Args: args}
		parts = append(parts, listedCallbacks(&part, f, after, before))
		args = part.Args
	}
	switch len(parts) {
	case 0:
		return "", nil // no callback is only recorded
	case 1:
		sql = parts[0]
	default:
		sql = fmt.Sprintf("(%s) order by id %[2]s, callback %[2]s limit $2", strings.Join(parts, ") union all ("), direction)
	}
	if before != nil {
		sql = "select * from (" + sql + ") page order by id desc, callback desc"
	}
	return sql, args
}

// eventColumns and callbackColumns are the fields of an [Event], in their order.
const (
	eventColumns = `e.id, false as callback, e.id as transaction, '' as kind, t.type::text, t.status::text, e.state, e.attempts, e.created_at,
		case when e.leased and coalesce(e.leased_until, e.due_at) > now() then null else e.due_at end, e.delivered_at, a.response_status, a.error, a.faults`
	callbackColumns = `n.id, true as callback, n.transaction_id, n.kind, coalesce(t.type::text, ''), coalesce(t.status::text, ''), n.state,
		n.attempts, coalesce(n.created_at, t.completed_at),
		case when n.leased_until > now() then null else n.due_at end, n.delivered_at, n.last_status, n.last_error, a.faults`
)

// listedEvents returns a statement that lists events. Its lateral joins with limit 1 force an index look-up for each
// event. A plain join would read all rows of the sandbox.
func listedEvents(c *lists.Conditions, f EventFilter, after, before *payments.EventID) string {
	ofType := ""
	if f.Type != "" {
		c.Args = append(c.Args, f.Type)
		ofType = fmt.Sprintf(" and type = $%d", len(c.Args))
	}
	addEventConditions(c, "e", f)
	if f.Transaction != nil {
		c.Add("e.id = $%d", postgres.UUID(*f.Transaction))
	}
	c.Created("e.created_at", f.CreatedAfter, f.CreatedBefore)
	direction := "desc"
	switch {
	case before != nil:
		c.Add("e.id > $%d", postgres.UUID(before.ID))
		direction = "asc"
	case after != nil && after.Callback:
		c.Add("e.id <= $%d", postgres.UUID(after.ID)) // the event of its transaction is next
	case after != nil:
		c.Add("e.id < $%d", postgres.UUID(after.ID))
	}
	return fmt.Sprintf(`select %s from events e
		cross join lateral (select type, status from transactions where tenant = $1 and id = e.id%s limit 1) t
		left join lateral (select response_status, error, faults from delivery_attempts where tenant = $1 and event_id = e.id and attempt = e.attempts limit 1) a on true
		where %s order by e.tenant %[4]s, e.id %[4]s limit $2`, eventColumns, ofType, strings.Join(c.Where, " and "), direction)
}

// listedCallbacks returns a statement that lists callbacks. The time of creation of a transaction's callback is the time
// at which the transaction was completed.
func listedCallbacks(c *lists.Conditions, f EventFilter, after, before *payments.EventID) string {
	addEventConditions(c, "n", f)
	if f.Transaction != nil {
		c.Add("n.transaction_id = $%[1]d and n.id between first_callback_id($%[1]d) and last_callback_id($%[1]d)", postgres.UUID(*f.Transaction))
	}
	c.Created("coalesce(n.created_at, t.completed_at)", f.CreatedAfter, f.CreatedBefore)
	direction := "desc"
	switch {
	case before != nil && !before.Callback:
		c.Add("n.id >= $%d", postgres.UUID(before.ID)) // the callback of its transaction is next
		direction = "asc"
	case before != nil:
		c.Add("n.id > $%d", postgres.UUID(before.ID))
		direction = "asc"
	case after != nil:
		c.Add("n.id < $%d", postgres.UUID(after.ID))
	}
	return fmt.Sprintf(`select %s from native_callbacks n
		left join lateral (select type, status, completed_at from transactions where tenant = $1 and id = n.transaction_id limit 1) t on true
		left join lateral (select faults from callback_attempts where tenant = $1 and id = n.id and attempt = n.attempts limit 1) a on true
		where %s order by n.tenant %[3]s, n.id %[3]s limit $2`, callbackColumns, strings.Join(c.Where, " and "), direction)
}

// addEventConditions adds the conditions that events and callbacks have in common. table is the alias of their table.
func addEventConditions(c *lists.Conditions, table string, f EventFilter) {
	if slices.Contains(EventStates, f.State) {
		// A constant lets Postgres use the partial index of a state.
		c.Where = append(c.Where, fmt.Sprintf("%s.state = '%s'", table, f.State))
	}
	if f.State == EventQueued {
		// This is always true, and lets Postgres use the partial index of due events.
		c.Where = append(c.Where, table+".due_at is not null")
	}
}
