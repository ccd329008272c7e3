package lists

import (
	"fmt"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
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

// Conditions are the conditions and the arguments of a list's filters.
type Conditions struct {
	Where []string
	Args  []any
}

// Add adds a condition. The parameter text has %d in place of the number of the argument.
func (c *Conditions) Add(text string, value any) {
	c.Args = append(c.Args, value)
	c.Where = append(c.Where, fmt.Sprintf(text, len(c.Args)))
}

// Match adds the conditions of a filter of transactions.
func (c *Conditions) Match(f Filter) {
	texts := []struct{ column, value string }{
		{"country", string(f.Country)}, {"operator", string(f.Operator)}, {"status", string(f.Status)},
		{"type", string(f.Type)}, {"order_ref", f.OrderRef}, {"store", f.Store}, {"msisdn", f.MSISDN},
	}
	for _, t := range texts {
		if t.value != "" {
			c.Add(t.column+" = $%d", t.value)
		}
	}
	if f.Reference != "" {
		c.Add("id = (select id from transactions_by_reference where reference_key = $1::bigint::text || ' ' || $%d::text)", f.Reference)
	}
	c.Created("created_at", f.CreatedAfter, f.CreatedBefore)
}

// Created adds the bounds after and before of a time; nil for no bound. The bound after includes its own time, and
// before excludes it. Created ignores the microseconds of a bound: a bound from a clock has microseconds, and the time
// of a row has none.
func (c *Conditions) Created(column string, after, before *time.Time) {
	if after != nil {
		c.Add(column+" >= $%d", after.Truncate(time.Millisecond))
	}
	if before != nil {
		c.Add(column+" < $%d", before.Truncate(time.Millisecond))
	}
}

// Cursor adds the condition that limits a list to one side of an id. It returns the direction in which the list is read
// from there.
func (c *Conditions) Cursor(column string, after, before *payments.ID) (direction string) {
	if before != nil {
		c.Add(column+" > $%d", postgres.UUID(*before))
		return "asc"
	}
	if after != nil {
		c.Add(column+" < $%d", postgres.UUID(*after))
	}
	return "desc"
}
