package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// plan is a node of a plan, as EXPLAIN tells it.
type plan struct {
	NodeType     string  `json:"Node Type"`
	Relation     string  `json:"Relation Name"`
	Index        string  `json:"Index Name"`
	IndexCond    string  `json:"Index Cond"`
	RecheckCond  string  `json:"Recheck Cond"`
	Rows         float64 `json:"Actual Rows"`
	Loops        float64 `json:"Actual Loops"`
	Removed      float64 `json:"Rows Removed by Filter"`
	RemovedIndex float64 `json:"Rows Removed by Index Recheck"`
	Hit          int     `json:"Shared Hit Blocks"`
	Read         int     `json:"Shared Read Blocks"`
	Plans        []plan
}

func (p plan) each(f func(plan)) {
	f(p)
	for _, child := range p.Plans {
		child.each(f)
	}
}

// literal writes a parameter into a statement.
func literal(value any) string {
	switch v := value.(type) {
	case time.Time:
		return "'" + v.Format(time.RFC3339Nano) + "'"
	case pgtype.UUID:
		return "'" + v.String() + "'"
	case pgtype.FlatArray[string]:
		return "'{" + strings.Join(v, ",") + "}'"
	default:
		return fmt.Sprintf("'%v'", v)
	}
}

// explain runs a statement in the tenant scope and returns how it was done: with a plan for these very parameters, or with
// the one for all parameters, which Postgres may come to prefer for a statement that is prepared.
func (w *fixture) explain(tenant int64, generic bool, sql string, args []any) plan {
	w.T.Helper()
	tx, err := w.SQL.Begin(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	exec := func(sql string, args ...any) {
		w.T.Helper()
		if _, err := tx.Exec(w.T.Context(), sql, args...); err != nil {
			w.T.Fatalf("%s: %v", sql, err)
		}
	}
	exec(postgres.EnterTenant, strconv.FormatInt(tenant, 10))
	mode := "force_custom_plan"
	if generic {
		mode = "force_generic_plan"
	}
	exec("set local plan_cache_mode = " + mode)
	exec("prepare listing as " + sql)
	var literals []string
	for _, a := range args {
		literals = append(literals, literal(a))
	}
	var text string
	err = tx.QueryRow(w.T.Context(), "explain (analyze, buffers, format json) execute listing ("+strings.Join(literals, ", ")+")",
		pgx.QueryExecModeSimpleProtocol).Scan(&text)
	if err != nil {
		w.T.Fatalf("%s: %v", sql, err)
	}
	exec("deallocate listing")
	var plans []struct{ Plan plan }
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
		w.T.Fatalf("%v: %s", err, text)
	}
	return plans[0].Plan
}

// crowd fills the database with n transactions of three large tenants and many small ones, in turns, and returns a large one
// and a small one.
func (w *fixture) crowd(n int) (large, small int64) {
	w.T.Helper()
	w.Exec(`
		insert into transactions (tenant, id, type, status, reference, request_hash, order_ref, is_url_protected, store, scenario, env_id,
		  operator, country, currency, msisdn, amount, commission, net_amount, absorption_pct, latency_ms, created_at, completed_at, float_currency,
		  merchant_number)
		select case i % 10 when 9 then 100 + i / 10 % 50 else i % 3 end + 1000, lpad(to_hex(i), 32, '0')::uuid,
		  (array['collection', 'collection', 'refund', 'disbursement'])[1 + i / 3 % 4]::transaction_type,
		  case when i % 1000 < 3 then 'PENDING' else 'SUCCESS' end::transaction_status, 'r' || i, '\x', 'o' || i / 30, false,
		  case when i % 5000 < 3 then 'kiosk' else 'shop' end, '', 'env_1', case when i / 3 % 2 = 0 then 'mtn' else 'airtel' end, 'RW', 'RWF',
		  '+25078800' || lpad((i / 3 % 5000)::text, 4, '0'), 1000, 15, 985, 100, 800, '2026-05-01'::timestamptz + make_interval(secs => i),
		  case when i % 1000 >= 3 then now() end, 'RWF', i
		from generate_series(1, $1::int) i`, n)
	w.Exec(`
		insert into environments (tenant, env_id, operator, country, currency, enabled, commission_bps, absorption_pct, unknown_policy)
		select tenant, operator, operator, 'RW', 'RWF', true, 150, 100, 'Reject'
		from (select distinct tenant, operator from transactions) t`)
	w.Exec("analyze transactions, environments")
	return 1001, 1100
}

// TestNoListReadsAnotherTenantsRows runs every filter among 100,000 transactions of 53 tenants.
func TestNoListReadsAnotherTenantsRows(t *testing.T) {
	w := newFixture(t)
	large, small := w.crowd(100_000)
	at := func(text string) *time.Time {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return &moment
	}
	cursor := payments.ID{13: 1} // 65536
	type list struct {
		name   string
		filter lists.Filter
		after  *payments.ID
		most   float64 // rows read, as a multiple of those asked for; 0: all of the tenant's may be
		before *payments.ID
	}
	const partitions = 12 // 3 types of 2 operators, in each of the 2 statuses
	filters := []list{
		{"the first page", lists.Filter{}, nil, 1, nil},
		{"a later page", lists.Filter{}, &cursor, 1, nil},
		{"an order", lists.Filter{OrderRef: "o1666"}, nil, 1, nil},
		{"an order, a later page", lists.Filter{OrderRef: "o1666"}, &cursor, 1, nil},
		{"an order that does not exist", lists.Filter{OrderRef: "none"}, nil, 1, nil},
		{"a reference", lists.Filter{Reference: "r50000"}, nil, 1, nil},
		{"a reference of another tenant", lists.Filter{Reference: "r49999"}, nil, 1, nil},
		{"a country", lists.Filter{Country: payments.Rwanda}, nil, partitions, nil},
		{"a country without transactions", lists.Filter{Country: payments.Togo}, nil, 1, nil},
		{"an operator", lists.Filter{Operator: payments.Airtel}, nil, partitions, nil},
		{"an operator without transactions", lists.Filter{Operator: payments.Moov}, nil, 1, nil},
		{"a status", lists.Filter{Status: payments.Success}, nil, partitions, nil},
		{"a rare status", lists.Filter{Status: payments.Pending}, nil, partitions, nil},
		{"a status without transactions", lists.Filter{Status: payments.Timeout}, &cursor, 1, nil},
		{"a type", lists.Filter{Type: payments.Refund}, nil, partitions, nil},
		{"a type and a status that do not go together", lists.Filter{Type: payments.Disbursement, Status: payments.Timeout}, nil, 1, nil},
		{"a rare status, a later page", lists.Filter{Status: payments.Pending, Operator: payments.MTN}, &cursor, partitions, nil},
		{"a rare store", lists.Filter{Store: "kiosk"}, nil, 0, nil},
		{"a number", lists.Filter{MSISDN: "+250788000017"}, nil, 0, nil},
		{"a time", lists.Filter{CreatedAfter: at("2026-05-01T12:00:00Z")}, nil, 1, nil},
		{"an early time", lists.Filter{CreatedBefore: at("2026-05-01T00:10:00Z")}, nil, 0, nil},
		{"between two times", lists.Filter{CreatedAfter: at("2026-05-01T12:00:00Z"), CreatedBefore: at("2026-05-01T13:00:00Z")}, &cursor, 0, nil},
		{"all at once", lists.Filter{
			Country: payments.Rwanda, Operator: payments.MTN, Status: payments.Success, Type: payments.Collection, OrderRef: "o1666", Store: "shop",
			Reference: "r50000", MSISDN: "+250788001666", CreatedAfter: at("2026-05-01T00:00:00Z"), CreatedBefore: at("2026-06-01T00:00:00Z"),
		}, nil, 1, nil},
	}
	const limit = 21
	for _, c := range filters {
		if c.after != nil {
			c.name, c.before, c.after = c.name+" before that", c.after, nil
			filters = append(filters, c)
		}
	}
	for tenant, what := range map[int64]string{large: "a large tenant", small: "a small tenant", 4711: "a tenant without transactions"} {
		own := float64(w.own("transactions", tenant))
		for _, c := range filters {
			for _, generic := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, generic %t", c.name, what, generic), func(t *testing.T) {
					sql, args := lists.Statement(tenant, c.filter, c.after, c.before, limit)
					scans := 0
					w.explain(tenant, generic, sql, args).each(func(p plan) {
						indexScan := strings.Contains(p.NodeType, "Index") // of a table, or of an index for a bitmap
						if p.Relation == "" && !indexScan {
							return
						}
						scans++
						if p.NodeType == "Bitmap Heap Scan" {
							if !strings.Contains(p.RecheckCond, "tenant") {
								t.Errorf("its condition is %s", p.RecheckCond)
							}
						} else if !indexScan || !strings.Contains(p.IndexCond, "tenant") {
							t.Errorf("it is a %s of %s%s by %q", p.NodeType, p.Relation, p.Index, p.IndexCond)
						}
						read := (p.Rows + p.Removed + p.RemovedIndex) * p.Loops
						if read > own {
							t.Errorf("it reads %g rows, and the tenant has %g", read, own)
						}
						if c.most > 0 && read > c.most*limit && tenant == large {
							t.Errorf("it reads %g rows, for %d that are asked for, by %s of %s: %s", read, limit, p.NodeType, p.Index, p.IndexCond)
						}
					})
					if scans == 0 {
						t.Error("nothing was read at all")
					}
				})
			}
		}
	}
}

// TestScopeHoldsListsWithoutTheirCondition shows that row level security alone keeps a list to its tenant.
func TestScopeHoldsListsWithoutTheirCondition(t *testing.T) {
	w := newFixture(t)
	tenant, small := w.crowd(3000)
	for name, filter := range map[string]lists.Filter{"all": {}, "an order": {OrderRef: "o50"}, "a status": {Status: payments.Success}} {
		sql, args := lists.Statement(small, filter, nil, nil, 5000)
		w.within(tenant, func(tx pgx.Tx) { // they ask for another's
			rows, err := tx.Query(t.Context(), sql, args...)
			if err != nil {
				t.Fatal(err)
			}
			if found, err := pgx.CollectRows(rows, pgx.RowToMap); err != nil || len(found) != 0 {
				t.Errorf("%s: %d rows of another tenant are seen, %v", name, len(found), err)
			}
		})
		forgetful := strings.ReplaceAll(sql, "tenant = $1", "$1::bigint is not null")
		if forgetful == sql {
			t.Fatalf("the statement has no condition on the tenant: %s", sql)
		}
		w.within(tenant, func(tx pgx.Tx) {
			rows, err := tx.Query(t.Context(), "select distinct tenant from ("+forgetful+") x", args...)
			if err != nil {
				t.Fatal(err)
			}
			tenants, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			if err != nil || !slices.Equal(tenants, []int64{tenant}) {
				t.Errorf("%s: without its condition, rows of %v are seen, %v", name, tenants, err)
			}
		})
		w.explain(tenant, false, forgetful, args).each(func(p plan) {
			if p.NodeType == "Seq Scan" {
				t.Errorf("%s: without its condition, it reads all of %s", name, p.Relation)
			}
		})
	}
}

// The view that lists and the worker's evaluation of expectations read has only the rows of the tenant of the session.
func TestListIndexesAreScoped(t *testing.T) {
	w := newFixture(t)
	large, small := w.crowd(3000)
	for _, tenant := range []int64{large, small, 4711} {
		w.within(tenant, func(tx pgx.Tx) {
			var seen, others int64
			err := tx.QueryRow(t.Context(), "select count(*), count(*) filter (where tenant <> $1) from listed_transactions", tenant).
				Scan(&seen, &others)
			if want := w.own("transactions", tenant); err != nil || seen != want || others != 0 {
				t.Errorf("tenant %d sees %d rows and %d of others, want its %d, %v", tenant, seen, others, want, err)
			}
		})
	}
	if n := w.Count("select count(*) from listed_transactions"); n != 0 { // nobody's session, and the owner of everything
		t.Errorf("without a tenant %d rows are seen", n)
	}
	var seen int64 // by a worker outside of the scope of a sandbox whose expectations it evaluates
	worker := ledgertest.Connect(t, ledgertest.URLAs(t, w.URL, ledgertest.Worker))
	if err := worker.QueryRow(t.Context(), "select count(*) from listed_transactions").Scan(&seen); err != nil || seen != 0 {
		t.Errorf("a worker without a tenant sees %d rows, %v", seen, err)
	}
	for _, role := range []string{ledgertest.API, ledgertest.Controller} {
		_, err := ledgertest.Connect(t, ledgertest.URLAs(t, w.URL, role)).Exec(t.Context(), "select from listed_transactions")
		if !isRefusal(err) {
			t.Errorf("%s may look into listed_transactions: %v", role, err)
		}
	}
}

func TestListTransactions(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	var made []*payments.Transaction
	for i := range 5 {
		made = append(made, w.Create(w.Collection(fmt.Sprint("r", i), payments.Success, alice)))
		other.Create(other.Collection(fmt.Sprint("r", i), payments.Success, alice))
	}
	references := func(f lists.Filter, after, before *payments.ID, limit int) (found []string) {
		t.Helper()
		list, err := w.ListTransactions(t.Context(), w.Sandbox.Tenant, f, after, limit)
		if before != nil {
			list, err = w.ListNewerTransactions(t.Context(), w.Sandbox.Tenant, f, *before, limit)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, transaction := range list {
			found = append(found, transaction.Reference)
			if diff := cmp.Diff(w.Get(transaction.ID), transaction); diff != "" {
				t.Errorf("%s (-read +listed):\n%s", transaction.Reference, diff)
			}
		}
		return found
	}
	for name, c := range map[string]struct {
		filter        lists.Filter
		after, before *payments.ID
		limit         int
		want          []string
	}{
		"all":                          {limit: 10, want: []string{"r4", "r3", "r2", "r1", "r0"}},
		"some":                         {limit: 2, want: []string{"r4", "r3"}},
		"after one":                    {after: &made[3].ID, limit: 2, want: []string{"r2", "r1"}},
		"after the last":               {after: &made[0].ID, limit: 2},
		"after one that is not there":  {after: &payments.ID{0xff}, limit: 1, want: []string{"r4"}},
		"filtered, after one":          {filter: lists.Filter{OrderRef: "r1"}, after: &made[3].ID, limit: 2, want: []string{"r1"}},
		"filtered, after the only one": {filter: lists.Filter{OrderRef: "r1"}, after: &made[1].ID, limit: 2},
		"before one":                   {before: &made[1].ID, limit: 2, want: []string{"r3", "r2"}},
		"before the second":            {before: &made[3].ID, limit: 2, want: []string{"r4"}},
		"before the first":             {before: &made[4].ID, limit: 2},
		"filtered, before one":         {filter: lists.Filter{Status: payments.Success}, before: &made[0].ID, limit: 2, want: []string{"r2", "r1"}},
		"an apostrophe":                {filter: lists.Filter{OrderRef: "' or true --"}, limit: 2},
	} {
		if diff := cmp.Diff(c.want, references(c.filter, c.after, c.before, c.limit)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A sandbox keeps the transactions of environments that its resource no longer has. Lists and observations find them by each
// filter, and look only where this sandbox may have transactions.
func TestListsFindWhatARemovedEnvironmentHas(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other", func(c *sandboxes.Config) {
		c.Environments = append(slices.Clone(c.Environments), sandboxes.EnvironmentConfig{Operator: payments.Airtel, Country: payments.Rwanda})
	})
	w.Create(w.Collection("kept", payments.Success, alice))
	other.Create(other.Collection("of another", payments.Success, alice))
	list := func(f lists.Filter) (found []string) {
		t.Helper()
		rows, err := w.ListTransactions(t.Context(), w.Sandbox.Tenant, f, nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			found = append(found, row.Reference)
		}
		return found
	}
	filters := map[string]lists.Filter{
		"operator": {Operator: payments.MTN}, "country": {Country: payments.Rwanda}, "status": {Status: payments.Success}, "type": {Type: payments.Collection},
		"all of them": {Operator: payments.MTN, Country: payments.Rwanda, Status: payments.Success, Type: payments.Collection},
	}
	check := func(when string, environments int) {
		t.Helper()
		for name, f := range filters {
			if got := list(f); !slices.Equal(got, []string{"kept"}) {
				t.Errorf("%s, by %s: %q are listed", when, name, got)
			}
		}
		for name, f := range map[string]lists.Filter{
			"another operator": {Operator: payments.Airtel}, "another country": {Country: payments.CoteDIvoire}, "another pair": {Operator: payments.MTN, Country: payments.CoteDIvoire},
		} {
			if got := list(f); len(got) > 0 {
				t.Errorf("%s, by %s: %q are listed", when, name, got)
			}
		}
		const line = `[{"transactions":{"where":{"operator":"mtn","country":"RW"},"count":1}},{"transactions":{"where":{"status":"SUCCESS"},"count":1}}]`
		if got := w.observed(nil, line); !slices.Equal(got, []string{"1 transaction", "1 transaction"}) {
			t.Errorf("%s: %q are observed", when, got)
		}
		sql, args := lists.Statement(w.Sandbox.Tenant, lists.Filter{Status: payments.Success}, nil, nil, 10)
		looks := -1.0 // without the last one, which reads the rows that were found
		w.explain(w.Sandbox.Tenant, false, sql, args).each(func(p plan) {
			if p.Relation == "transactions" {
				looks += p.Loops
			}
		})
		if want := float64(len(payments.Types) * environments); looks != want {
			t.Errorf("%s: a list by status looks at %g combinations, want those of %d environments, %g", when, looks, environments, want)
		}
	}
	check("with both environments", 2)
	w.Config.Environments = w.Config.Environments[1:]
	w.Apply()
	check("without the environment", 2)
	w.Config.Environments = append(w.Config.Environments, sandboxes.EnvironmentConfig{Operator: payments.Moov, Country: payments.Togo})
	w.Apply()
	check("with a further one", 3)
}
