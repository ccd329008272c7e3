package observations

import (
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
)

// PastTime is a past time at which a worker should have observed a sandbox. The worker is late, and observes the
// sandbox as it was then. All times are real times.
type PastTime struct {
	At      time.Time
	Clocked bool // the sandbox has a clock: its transactions do not say when they were created in real time
	Changed bool // something may have happened in the sandbox after At
}

// past has the conditions with which a statement observes a sandbox as it was at a past time. Its zero value observes
// the sandbox as it is.
//
// Only the present balances are known. So a balance that changed after the time is unsure. The event of a transaction
// says when the transaction ended. In a sandbox without a clock, the time of its creation is known too. In a sandbox
// with a clock, it is not known. There, if something happened after the time, a transaction that had not ended at the
// time is unsure, because it may not have existed.
type past struct {
	at              int // the number of the argument with the time; 0: none
	clocked, unsafe bool
}

func (c *observing) enter(then *PastTime) {
	if then != nil {
		c.Args = append(c.Args, then.At)
		c.past = past{len(c.Args), then.Clocked, then.Clocked && then.Changed}
	}
}

// given returns a condition that is always true and uses the argument with the time, in case that no line uses it; ""
// without a time.
func (p *past) given() string {
	if p.at == 0 {
		return ""
	}
	return fmt.Sprintf(" where $%d::timestamptz is not null", p.at)
}

// hadEnded is the condition that the transaction t had ended.
func (p *past) hadEnded() string {
	if p.at == 0 {
		return "t.status <> 'PENDING'"
	}
	return fmt.Sprintf("(t.status <> 'PENDING' and not exists (select from events e where e.tenant = $1 and e.id = t.id and e.recorded_at > $%d))", p.at)
}

// wasThere adds the condition that the transaction t existed, as far as it is known.
func (c *observing) wasThere() {
	if c.at != 0 && !c.clocked {
		c.Where = append(c.Where, fmt.Sprintf("t.created_at <= $%d", c.at))
	}
}

// filterThen adds the conditions of a filter. It compares the status of the filter with the status that the transaction
// t had at the time.
func (c *observing) filterThen(f lists.Filter) {
	status := f.Status
	if c.at != 0 && status == payments.Pending {
		f.Status = ""
	}
	c.Match(f)
	switch {
	case c.at == 0 || status == "":
	case status == payments.Pending:
		c.Where = append(c.Where, "not "+c.hadEnded())
	default:
		c.Where = append(c.Where, c.hadEnded())
	}
}

// unsure returns the column that tells whether it is unsure that a transaction t existed at the time. It returns "" if
// that is known of all transactions.
func (p *past) unsure() string {
	if !p.unsafe {
		return ""
	}
	return ", not " + p.hadEnded() + " as unsure"
}

// anyUnsure returns an expression that tells whether one of the counted transactions is unsure; "" if none can be.
func (p *past) anyUnsure() string {
	if !p.unsafe {
		return ""
	}
	return "coalesce(bool_or(unsure), false)"
}

// changedLater returns a condition that tells whether a balance changed after the time; "" without a time.
func (p *past) changedLater() string {
	if p.at == 0 {
		return ""
	}
	return fmt.Sprintf("changed_at > $%d", p.at)
}

// eventOf is a query for the event of the transaction t, and callbacksOf one for its callbacks, with state and attempts.
func (p *past) eventOf() string {
	if p.at == 0 {
		return "(select state, attempts from events where tenant = $1 and id = t.id limit 1)"
	}
	return p.before("events", "m.id = t.id", "delivery_attempts", "event_id", 1)
}

func (p *past) callbacksOf() string {
	const which = "%[1]stransaction_id = t.id and %[1]sid between first_callback_id(t.id) and last_callback_id(t.id)"
	if p.at == 0 {
		return "(select state, attempts from native_callbacks where tenant = $1 and " + fmt.Sprintf(which, "") + " limit 16)"
	}
	return p.before("native_callbacks", fmt.Sprintf(which, "m."), "callback_attempts", "id", 16)
}

// before returns a query for messages, with the state and the number of attempts that they had at the time. A message
// that was acknowledged by then counts as delivered, even if it was sent again by hand.
func (p *past) before(messages, which, attempts, message string, most int) string {
	return fmt.Sprintf(`(select case when a.acknowledged then 'delivered' when a.later then 'queued' else m.state end as state,
		case when a.later then a.earlier else m.attempts end as attempts
		from %[1]s m cross join lateral (
			select count(*) filter (where ended <= $%[5]d)::integer as earlier, coalesce(bool_or(ended > $%[5]d), false) as later,
				coalesce(bool_or(error is null and ended <= $%[5]d), false) as acknowledged
			from (select error, coalesce(real_started_at, started_at) + make_interval(secs => duration_ms / 1000.0) as ended
				from %[3]s where tenant = $1 and %[4]s = m.id) a) a
		where m.tenant = $1 and %[2]s limit %[6]d)`, messages, which, attempts, message, p.at, most)
}
