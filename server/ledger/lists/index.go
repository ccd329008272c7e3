package lists

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
)

// Index has the values of status, type, operator and country that match a filter. The index transactions_listed
// sorts by id within each combination of these values. At most a few hundred combinations exist. The list merges the
// newest rows of the matching combinations, so a rare status costs as much as a frequent one.
type Index struct {
	Statuses  []payments.Status
	Types     []payments.Type
	Operators []payments.Operator
	Countries []payments.Country
}

// IndexOf returns the values that match a filter; ok is false if another index serves the filter.
func IndexOf(f Filter) (l Index, ok bool) {
	if f.Status == "" && f.Type == "" && f.Operator == "" && f.Country == "" || f.OrderRef != "" || f.Reference != "" {
		return Index{}, false
	}
	return Index{
		Statuses: oneOr(f.Status, payments.Statuses), Types: oneOr(f.Type, payments.Types),
		Operators: oneOr(f.Operator, payments.Operators), Countries: oneOr(f.Country, payments.Countries),
	}, true
}

func oneOr[T ~string](one T, all []T) []T {
	if one == "" {
		return all
	}
	return []T{one}
}

// statement returns the statement that lists a page. Under row-level security the planner cannot use the index on
// status and type, since the operators of enums are not leakproof. So the statement reads the view listed_transactions,
// which repeats the condition of the policy.
func (l Index) statement(tenant int64, f Filter, after, before *payments.ID, limit int) (sql string, args []any) {
	c := Conditions{
		Where: []string{"tenant = $1", "status = s.status", "type = k.type", "operator = o.operator", "country = c.country"},
		Args:  []any{tenant, limit, Texts(l.Statuses), Texts(l.Types), Texts(l.Operators), Texts(l.Countries)},
	}
	if f.Store != "" {
		c.Add("store = $%d", f.Store)
	}
	if f.MSISDN != "" {
		c.Add("msisdn = $%d", f.MSISDN)
	}
	c.Created("created_at", f.CreatedAfter, f.CreatedBefore)
	direction := c.Cursor("id", after, before)
	return fmt.Sprintf(`select %[1]s from transactions where tenant = $1 and id = any (array(
  select nearest.id from unnest($3::text[]::transaction_status[]) s (status), unnest($4::text[]::transaction_type[]) k (type),
    unnest($5::text[]) o (operator), unnest($6::text[]) c (country), lateral (
      select id from listed_transactions where %[2]s order by id %[3]s limit $2) nearest
  order by nearest.id %[3]s limit $2)) order by tenant desc, id desc`,
		ledgerdb.TransactionColumns, strings.Join(c.Where, " and "), direction), c.Args
}

// Texts returns names as the array argument of a statement.
func Texts[T ~string](names []T) pgtype.FlatArray[string] {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return out
}
