package lists

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
)

// Index has the values of status and type that match a filter, and the operator and the country of the filter. The index
// transactions_listed sorts by id within each combination of the four. A sandbox has transactions only in the markets of its
// environments, present or removed, so these are the only combinations that are looked at, in the view listed_markets: the
// statement sees the environment of each transaction that it sees, however new it is. The list merges the newest rows of the
// matching combinations, so a rare status costs as much as a frequent one.
type Index struct {
	statuses []payments.Status
	types    []payments.Type
	operator payments.Operator
	country  payments.Country
}

// IndexOf returns the values that match a filter; ok is false if another index serves the filter.
func IndexOf(f Filter) (l Index, ok bool) {
	if f.Status == "" && f.Type == "" && f.Operator == "" && f.Country == "" || f.OrderRef != "" || f.Reference != "" {
		return Index{}, false
	}
	return Index{
		statuses: oneOr(f.Status, payments.Statuses), types: oneOr(f.Type, payments.Types),
		operator: f.Operator, country: f.Country,
	}, true
}

func oneOr[T ~string](one T, all []T) []T {
	if one == "" {
		return all
	}
	return []T{one}
}

// Combinations returns the part of a FROM clause with the combinations s (status), k (type) and m (operator, country), and
// adds its arguments to c. In the clause WHERE that follows, the conditions that c has then look one combination up.
func (l Index) Combinations(c *Conditions) (from string) {
	c.Args = append(c.Args, texts(l.statuses), texts(l.types))
	n := len(c.Args)
	of := Conditions{Where: []string{"tenant = $1"}, Args: c.Args}
	if l.operator != "" {
		of.Add("operator = $%d", string(l.operator))
	}
	if l.country != "" {
		of.Add("country = $%d", string(l.country))
	}
	c.Args = of.Args
	c.Where = append(c.Where, "status = s.status", "type = k.type", "operator = m.operator", "country = m.country")
	return fmt.Sprintf(`unnest($%d::text[]::transaction_status[]) s (status), unnest($%d::text[]::transaction_type[]) k (type),
    (select operator, country from listed_markets where %s) m`, n-1, n, strings.Join(of.Where, " and "))
}

// statement returns the statement that lists a page. Under row-level security the planner cannot use the index on
// status and type, since the operators of enums are not leakproof. So the statement reads the view listed_transactions,
// which repeats the condition of the policy.
func (l Index) statement(tenant int64, f Filter, after, before *payments.ID, limit int) (sql string, args []any) {
	c := Conditions{Where: []string{"tenant = $1"}, Args: []any{tenant, limit}}
	from := l.Combinations(&c)
	if f.Store != "" {
		c.Add("store = $%d", f.Store)
	}
	if f.MSISDN != "" {
		c.Add("msisdn = $%d", f.MSISDN)
	}
	c.Created("created_at", f.CreatedAfter, f.CreatedBefore)
	direction := c.Cursor("id", after, before)
	return fmt.Sprintf(`select %[1]s from transactions where tenant = $1 and id = any (array(
  select nearest.id from %[4]s, lateral (
      select id from listed_transactions where %[2]s order by id %[3]s limit $2) nearest
  order by nearest.id %[3]s limit $2)) order by tenant desc, id desc`,
		ledgerdb.TransactionColumns, strings.Join(c.Where, " and "), direction, from), c.Args
}

// texts returns names as the array argument of a statement.
func texts[T ~string](names []T) pgtype.FlatArray[string] {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return out
}
