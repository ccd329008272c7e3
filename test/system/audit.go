package system

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
)

// rule is an invariant that always holds. Its query returns a line for each row that breaks it. It ignores rows of
// retired tenants, which a worker removes.
type rule struct{ name, query string }

var rules = []rule{
	{"a float is the sum of its adjustments and of what its transactions moved", `
		select format('%s: balance %s, sum %s', o.name, f.balance, s.sum)
		from floats f join organizations o using (tenant), lateral (select
			coalesce((select sum(a.delta) from adjustments a where a.tenant = f.tenant and a.currency = f.currency), 0) +
			coalesce((select sum(t.merchant_delta) from transactions t where t.tenant = f.tenant and t.float_currency = f.currency), 0) as sum) s
		where f.balance <> s.sum`},
	{"a SIM is the sum of its adjustments and of what its transactions moved", `
		select format('%s %s: balance %s, sum %s', o.name, i.msisdn, i.balance, s.sum)
		from sims i join organizations o using (tenant), lateral (select
			coalesce((select sum(a.delta) from adjustments a where a.tenant = i.tenant and a.sim_id = i.sim_id), 0) +
			coalesce((select sum(t.sim_delta) from transactions t where t.tenant = i.tenant and t.sim_id = i.sim_id), 0) as sum) s
		where i.balance <> s.sum`},
	{"the movements of a balance have the numbers 1, 2, 3 and so on, and each leads from the balance after the one before", `
		select format('%s %s: number %s at place %s, from %s by %s to %s', o.name, c.account, c.number, c.place, c.before, c.delta, c.balance_after)
		from (select m.*, row_number() over w as place, lag(m.balance_after, 1, 0::bigint) over w as before,
				row_number() over w = count(*) over a as last
			from (select tenant, coalesce(currency, sim_id::text) as account, number, delta, balance_after from adjustments
				union all select tenant, float_currency, merchant_number, merchant_delta, merchant_balance_after
					from transactions where status = 'SUCCESS'
				union all select tenant, sim_id::text, sim_number, sim_delta, sim_balance_after from transactions where sim_delta <> 0) m
			window a as (partition by tenant, account), w as (a order by number)) c
		join (select tenant, currency as account, movements, balance from floats
			union all select tenant, sim_id::text, movements, balance from sims) a using (tenant, account)
		join organizations o using (tenant)
		where c.number <> c.place or c.balance_after <> c.before + c.delta
			or c.last and (c.number, c.balance_after) <> (a.movements, a.balance)`},
	{"a transaction moved what its type, status and amounts say", `
		select format('%s %s: %s %s, merchant %s, SIM %s', o.name, t.reference, t.type, t.status, t.merchant_delta, t.sim_delta)
		from transactions t join organizations o using (tenant)
		where t.merchant_delta <> case when t.status <> 'SUCCESS' then 0 when t.type = 'collection' then t.net_amount else -t.amount end
			or t.sim_delta not in (0, case when t.status <> 'SUCCESS' then 0 when t.type = 'collection' then -(t.net_amount + t.commission)
				else t.amount end)`},
	{"a terminal transaction has an event", `
		select format('%s %s: %s', o.name, t.reference, t.status)
		from transactions t join organizations o using (tenant) left join events e on e.tenant = t.tenant and e.id = t.id
		where t.status <> 'PENDING' and e.id is null`},
	{"a pending transaction has none", `
		select format('%s %s', o.name, t.reference)
		from transactions t join organizations o using (tenant) join events e on e.tenant = t.tenant and e.id = t.id
		where t.status = 'PENDING'`},
	{"an event has a transaction", `
		select format('%s %s', o.name, e.id)
		from events e join organizations o using (tenant) left join transactions t on t.tenant = e.tenant and t.id = e.id
		where t.id is null`},
	{"what was refunded of a payment is the sum of its refunds, and not more than its amount", `
		select format('%s %s: amount %s, refunded %s, refunds %s', o.name, t.reference, t.amount, t.refunded, r.sum)
		from transactions t join organizations o using (tenant)
		left join (select tenant, parent_id, sum(amount) as sum from transactions
			where parent_id is not null and status = 'SUCCESS' group by tenant, parent_id) x on x.tenant = t.tenant and x.parent_id = t.id,
			lateral (select coalesce(x.sum, 0) as sum) r
		where t.type = 'collection' and (t.refunded <> r.sum or t.refunded > t.amount)`},
	{"no balance is below zero", `
		select format('%s: balance %s', o.name, b.balance)
		from (select tenant, balance from floats union all select tenant, balance from sims) b join organizations o using (tenant)
		where b.balance < 0`},
	{"a reference has one transaction", `
		select format('%s %s: %s transactions', o.name, t.reference, count(*))
		from transactions t join organizations o using (tenant) group by o.name, t.tenant, t.reference having count(*) > 1`},
	{"what is pending, and what is to be sent, is due at some time", `
		select format('%s %s', o.name, x.id)
		from (select tenant, id from transactions where status = 'PENDING' and due_at is null union all
			select tenant, id from events where state = 'queued' and due_at is null) x join organizations o using (tenant)`},
	{"an event that is delivered says when, was attempted, and has a body", `
		select format('%s %s: %s attempts', o.name, e.id, e.attempts)
		from events e join organizations o using (tenant)
		where e.state = 'delivered' and (e.delivered_at is null or e.attempts = 0 or e.body is null)`},
}

// shownProblems is the number of rows to show for each broken rule.
const shownProblems = 5

// Audit returns all broken rules. They must hold at every moment, also under load: it reads one snapshot.
func (s *System) Audit(ctx context.Context) (problems []string, err error) {
	err = pgx.BeginTxFunc(ctx, s.SQL, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		problems, err = Audit(ctx, tx)
		return err
	})
	return problems, err
}

// Audit is [System.Audit] of the snapshot of a database transaction.
func Audit(ctx context.Context, tx pgx.Tx) (problems []string, err error) {
	// New rows have no statistics yet, and analyze would change what is measured. The planner then assumes small
	// tables, and nested loops over large tables would never end.
	if _, err := tx.Exec(ctx, "set local enable_nestloop = off"); err != nil {
		return nil, fmt.Errorf("auditing: %w", err)
	}
	for _, rule := range rules {
		rows, err := tx.Query(ctx, rule.query)
		if err != nil {
			return nil, fmt.Errorf("auditing that %s: %w", rule.name, err)
		}
		broken, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("auditing that %s: %w", rule.name, err)
		}
		for _, row := range broken[:min(len(broken), shownProblems)] {
			problems = append(problems, fmt.Sprintf("it does not hold that %s (%d rows): %s", rule.name, len(broken), row))
		}
	}
	return problems, nil
}

// AuditDeliveries compares the deliveries at a receiver with the sandbox's transactions after all events were
// delivered. Each terminal transaction must have at least one delivery, always with the same id and with the
// transaction's outcome. There must be no other event.
func (s *Sandbox) AuditDeliveries(ctx context.Context, r *Receiver) (problems []string, err error) {
	return s.auditDeliveries(ctx, r, false)
}

// AuditDeliveriesSoFar is AuditDeliveries while events may still be queued.
func (s *Sandbox) AuditDeliveriesSoFar(ctx context.Context, r *Receiver) (problems []string, err error) {
	return s.auditDeliveries(ctx, r, true)
}

func (s *Sandbox) auditDeliveries(ctx context.Context, r *Receiver, soFar bool) (problems []string, err error) {
	problems = r.Refused()
	rows, err := s.system.SQL.Query(ctx, `select id, status, coalesce(e.state = 'queued', false)
		from transactions t left join events e using (tenant, id) where tenant = $1 and status <> 'PENDING'`, s.Tenant)
	if err != nil {
		return nil, fmt.Errorf("reading the transactions of %s: %w", s.Config.Name, err)
	}
	type terminal struct {
		ID     [16]byte
		Status payments.Status
		Queued bool
	}
	transactions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[terminal])
	if err != nil {
		return nil, fmt.Errorf("reading the transactions of %s: %w", s.Config.Name, err)
	}
	arrivals := r.Arrivals()
	for _, t := range transactions {
		id := payments.ID(t.ID)
		event := "evt_" + id.Code()
		if len(arrivals[event]) == 0 && !(soFar && t.Queued) {
			problems = append(problems, fmt.Sprintf("the event of %s never arrived", id))
		}
		for _, a := range arrivals[event] {
			if a.TransactionID != id.String() || a.Status != string(t.Status) {
				problems = append(problems, fmt.Sprintf("the event of %s (%s) reported %s (%s)", id, t.Status, a.TransactionID, a.Status))
			}
		}
		delete(arrivals, event)
	}
	for event, list := range arrivals {
		problems = append(problems, fmt.Sprintf("%s, which reported %s, belongs to no transaction of the sandbox", event, list[0].TransactionID))
	}
	return problems, nil
}

// Count reads one number from the database.
func (s *System) Count(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = s.SQL.QueryRow(ctx, query, args...).Scan(&n)
	return n, err
}

// Pending counts the pending transactions of the sandbox.
func (s *Sandbox) Pending(ctx context.Context) (int64, error) {
	return s.system.Count(ctx, "select count(*) from transactions where tenant = $1 and status = 'PENDING'", s.Tenant)
}

// Undelivered counts the queued events and callbacks of the sandbox.
func (s *Sandbox) Undelivered(ctx context.Context) (int64, error) {
	return s.system.Count(ctx, `select count(*) from (
		select state from events where tenant = $1 union all select state from native_callbacks where tenant = $1) x where state = 'queued'`, s.Tenant)
}

// Drained waits until the given sandboxes have no pending transactions and no queued events. It gives up if the number
// does not fall for the duration of stall, because the total time depends on the machine.
func (s *System) Drained(ctx context.Context, stall time.Duration, sandboxes ...*Sandbox) error {
	left := int64(math.MaxInt64)
	for {
		err := Until(ctx, stall, "more is settled or delivered", func(ctx context.Context) error {
			var now int64
			for _, sandbox := range sandboxes {
				pending, err := sandbox.Pending(ctx)
				if err != nil {
					return err
				}
				undelivered, err := sandbox.Undelivered(ctx)
				if err != nil {
					return err
				}
				now += pending + undelivered
			}
			if now >= left {
				return fmt.Errorf("%d transactions are pending or have queued events", now)
			}
			left = now
			return nil
		})
		if err != nil || left == 0 {
			return err
		}
	}
}
