package observations

import (
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
)

// PastTime is a time that has passed, for which a worker observes a sandbox that it looks at late. All times are real.
type PastTime struct {
	At      time.Time
	Clocked bool // the sandbox has a clock, so that nothing says when a transaction was created in real time
	Changed bool // something may have happened in the sandbox after it
}

// past has the conditions by which a statement observes a sandbox as it was. Its zero value observes it as it is.
//
// Balances are known only as they are, so those that changed later are unsure. Of a transaction, the event says when it
// ended. When it was created is known without a clock only. With one, a transaction that is pending, or ended later, is
// unsure if anything happened later.
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

// given uses the argument with the time, which the lines may not need.
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

// filterThen adds the conditions of a filter, and the status of it that the transaction t had.
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

// unsure is the column of a transaction t that tells whether it may not have existed; empty if all are known.
func (p *past) unsure() string {
	if !p.unsafe {
		return ""
	}
	return ", not " + p.hadEnded() + " as unsure"
}

// anyUnsure tells whether one of the transactions that are counted is unsure.
func (p *past) anyUnsure() string {
	if !p.unsafe {
		return ""
	}
	return "coalesce(bool_or(unsure), false)"
}

// changedLater tells whether a balance has changed since.
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

// before is a query for messages with their state and their attempts by that time. A message that was acknowledged
// counts as delivered, also if it was sent again by hand.
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
