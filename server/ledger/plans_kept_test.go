package ledger_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
)

// Unless it is told to, Postgres decides by itself whether it keeps a plan: it compares the costs of the first five plans with that of
// one for all arguments. A connection whose five were made for empty tables, and the one before the first analyze, plans each time for
// the rest of its life. So the plans of a connection that lives through the first minutes of a new database must be kept, and read at
// each stage what those of a new connection read.
func TestPlansDoNotDependOnWhenTheyAreMade(t *testing.T) {
	p := newPlanned(t)
	p.Exec("update organizations set followed_until = now() + interval '2 days'") // its changes are noted: see note_change
	lived := map[string]*planning{}
	for role := range statementsOf {
		lived[role] = p.connect(role, isKept)
	}
	some := map[string]int{}
	for _, stage := range []struct {
		name  string
		reach func()
	}{
		{"empty", func() {}},
		{"filled and emptied", func() {
			p.grow(100_000, 1, 500)
			p.Exec(emptied)
			p.Exec("vacuum (truncate off)")
		}},
		{"a few rows", func() { p.grow(p.Sandbox.Tenant, 1, 10); p.found(1, 200, "null") }},
		{"some rows", func() { p.grow(p.Sandbox.Tenant, 11, 1000); p.pay(20_000) }},
		{"vacuumed", func() { p.Exec("vacuum") }},
		{"analyzed", func() { p.Exec("analyze") }},
		{"after the first autovacuum", func() { p.Exec("vacuum analyze") }},
		{"many rows", func() { p.grow(p.Sandbox.Tenant, 1001, 3000); p.found(201, 3000, followed) }},
	} {
		stage.reach()
		for role, c := range lived {
			fresh := p.connect(role, isKept)
			for _, name := range slices.Sorted(maps.Keys(c.executes)) {
				read, planned := c.cost(name)
				if planned > 0 {
					t.Errorf("%s: %s of %s was planned for its arguments", stage.name, name, role)
				}
				if known, _ := fresh.cost(name); read > 2*known+10 {
					t.Errorf("%s: %s of %s reads %d blocks, and %d on a new connection", stage.name, name, role, read, known)
				}
				before, measured := some[role+" "+name]
				if _, listed := whole[name]; measured && !listed && read > 2*before+10 {
					t.Errorf("%s: %s of %s reads %d blocks, and %d at some rows", stage.name, name, role, read, before)
				}
				if stage.name == "some rows" {
					some[role+" "+name] = read
				}
			}
			_ = fresh.conn.Close(t.Context())
		}
	}
}

const emptied = `do $$ declare name text; begin
	for name in select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant'
		where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' loop
		execute format('delete from %I where tenant = 100000', name);
	end loop;
end $$`

// followed is the end of a mark in organizations.
const followed = "now() + interval '1 day'"

// found writes organizations with a clock and an endpoint, as if other sandboxes were created.
func (p *planned) found(from, to int, followedUntil string) {
	p.T.Helper()
	p.Exec(`insert into organizations select (jsonb_populate_record(o, jsonb_build_object('org_id', 'org' || i, 'tenant', 200000 + i,
		'resource_uid', plan_id(200000 + i), 'name', 'o' || i, 'version', i, 'followed_until', `+followedUntil+`))).*
		from organizations o, generate_series($2::bigint, $3::bigint) i where o.tenant = $1`, p.Sandbox.Tenant, from, to)
	for _, table := range []string{"clocks", "endpoint_health"} {
		p.Exec("insert into "+table+" (tenant) select 200000 + i from generate_series($1::bigint, $2::bigint) i", from, to)
	}
}

// pay writes transactions of the other sandboxes, a hundred of each.
func (p *planned) pay(transactions int) {
	p.T.Helper()
	whole := p.rows
	defer func() { p.rows = whole }()
	p.rows = slices.DeleteFunc(slices.Clone(whole), func(statement string) bool {
		return !strings.Contains(statement, "insert into transactions ")
	})
	for n := range transactions / 100 {
		p.grow(int64(200_001+n), 1, 100)
	}
}

// cost executes a statement. It returns how many blocks of tables and indexes were read by the statement, its triggers and their functions,
// and how many times this connection has planned the statement for its arguments.
func (c *planning) cost(name string) (blocks, planned int) {
	c.T.Helper()
	c.scoped(name, func(ctx context.Context) (err error) {
		blocks, err = c.reads(ctx, c.executes[name])
		if err != nil {
			return err
		}
		return c.conn.QueryRow(ctx, "select custom_plans from pg_prepared_statements where name = $1", name).Scan(&planned)
	})
	return blocks, planned
}

// reads returns how many blocks of tables and indexes a statement reads, with its triggers and their functions.
func (c *planning) reads(ctx context.Context, statement string) (blocks int, err error) {
	const fetched = `select sum(pg_stat_get_xact_blocks_fetched(oid))::integer from pg_class
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`
	var before int
	if err := c.conn.QueryRow(ctx, fetched).Scan(&before); err != nil {
		return 0, err
	}
	if _, err := c.conn.PgConn().Exec(ctx, statement).ReadAll(); err != nil {
		return 0, err
	}
	err = c.conn.QueryRow(ctx, fetched).Scan(&blocks)
	return blocks - before, err
}

// A function is called by whoever writes a row or enters a scope, and keeps the plans of its statements for them all. So what it reads may
// depend neither on the settings of its first caller, nor on how full the tables were then.
func TestFunctionsReadByIndexWhoeverCallsThem(t *testing.T) {
	p := newPlanned(t)
	p.Exec("update organizations set api_reset = true")
	conn := ledgertest.Connect(t, p.URL) // without settings, and so with sequential scans
	calls := map[string]string{
		"tenant_in_use":    postgres.EnterTenant,
		"note_change":      "insert into delivery_attempts (tenant, event_id, attempt, started_at, duration_ms) values ($1, gen_random_uuid(), 1, now(), 1)",
		"api_key_is_valid": "select api_key_is_valid(int8send($1::bigint))",
		"log_all_requests": "select log_all_requests() from (select $1::bigint) tenant",
		"follow_sandbox":   "select follow_sandbox() from (select $1::bigint) tenant",
		"sandbox_time":     "select sandbox_time($1)",
		"start_clock":      "select start_clock() from (select $1::bigint) tenant",
		"reset_sandbox":    "select reset_sandbox() from (select $1::bigint) tenant",
	}
	for _, stage := range []struct {
		name  string
		reach func()
	}{
		{"one sandbox, in one page", func() { p.Exec("vacuum full"); p.Exec("analyze") }},
		{"many sandboxes", func() { p.found(1, 3000, "null") }},
		{"one is followed, analyzed", func() {
			p.Exec("update organizations set followed_until = "+followed+" where tenant = $1", p.Sandbox.Tenant)
			p.Exec("vacuum analyze")
		}},
		{"all are followed", func() {
			p.Exec("update organizations set followed_until = now() + interval '1 hour' where followed_until is null")
		}},
	} {
		stage.reach()
		for name, call := range calls {
			most := 0
			for range 10 {
				most = max(most, rowsRead(t, conn, call, p.Sandbox.Tenant))
			}
			if most > 100 { // entries of what was rolled back among them
				t.Errorf("%s: %s reads %d rows and entries of indexes", stage.name, name, most)
			}
		}
	}
}

// rowsRead returns how many rows sequential scans read, and how many entries index scans, during a call.
func rowsRead(t *testing.T, conn *pgx.Conn, call string, tenant int64) int {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	const returned = `select sum(pg_stat_get_xact_tuples_returned(oid))::integer from pg_class
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')`
	var before, after int
	err = tx.QueryRow(t.Context(), returned+" and set_config('cauri.tenant', $1::bigint::text, true) is not null", tenant).Scan(&before)
	if err == nil {
		_, err = tx.Exec(t.Context(), call, tenant)
	}
	if err == nil {
		err = tx.QueryRow(t.Context(), returned).Scan(&after)
	}
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	return after - before
}
