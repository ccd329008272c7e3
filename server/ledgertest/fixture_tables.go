package ledgertest

import (
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Exec runs a statement outside of every scope.
func (w *Fixture) Exec(sql string, args ...any) {
	w.T.Helper()
	if _, err := w.SQL.Exec(w.T.Context(), sql, args...); err != nil {
		w.T.Fatal(err)
	}
}

// Count returns the number that a query returns.
func (w *Fixture) Count(sql string, args ...any) int {
	w.T.Helper()
	return Read[int](w, sql, args...)
}

// Read returns the single value that a query returns.
func Read[T any](w *Fixture, sql string, args ...any) (value T) {
	w.T.Helper()
	if err := w.SQL.QueryRow(w.T.Context(), sql, args...).Scan(&value); err != nil {
		w.T.Fatal(err)
	}
	return value
}

// Tables returns the names of all tables of the schema.
func (w *Fixture) Tables() []string {
	w.T.Helper()
	return Read[[]string](w, `select array_agg(table_name::text order by table_name) from information_schema.tables
		where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'schema\_%'`)
}

// Written returns every row of the database with the database transaction that wrote it. So a write shows even if it
// changed no value.
func (w *Fixture) Written() map[string]string {
	w.T.Helper()
	all := map[string]string{}
	for _, table := range w.Tables() {
		all[table] = Read[string](w, "select coalesce(string_agg(x.xmin::text || ' ' || x::text, E'\n' order by x::text), '') from "+table+" x")
	}
	return all
}

// TenantTables returns the tables whose rows belong to a sandbox, with the number of rows of a tenant.
func (w *Fixture) TenantTables(tenant int64) map[string]int {
	w.T.Helper()
	names := Read[[]string](w, `select array_agg(table_name::text) from information_schema.columns
		join information_schema.tables using (table_schema, table_name)
		where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'tenant' and table_name <> 'retired_tenants'`)
	rows := map[string]int{}
	for _, name := range names {
		rows[name] = w.Count("select count(*) from "+name+" where tenant = $1", tenant)
	}
	return rows
}

// Busy fills every table of the sandbox.
func (w *Fixture) Busy() {
	w.T.Helper()
	w.Config.Operators = []sandboxes.OperatorAccess{
		{
			Store:       "shop",
			Operator:    payments.Airtel,
			Country:     payments.Rwanda,
			Credentials: &sandboxes.OperatorCredentials{ClientID: "id", ClientSecret: "secret"},
		},
	}
	w.Apply()
	w.Reload()
	w.Client("busy", "+250788999999", 5000)
	w.Create(w.Collection("busy", payments.Success, "+250788999999"))
	w.Pending("waits", "+250788999999")
	for _, event := range w.Lease(Body()) {
		w.Finish(&event, ledger.AttemptResult{State: ledger.EventQueued, RetryAfter: time.Hour})
	}
	w.Exec("insert into quota_usage (tenant, month, used) values ($1, '2026-05-01', 1)", w.Sandbox.Tenant)
	w.Exec("insert into rate_usage (tenant, second, granted) values ($1, 1780228800, 1)", w.Sandbox.Tenant)
	w.Exec("insert into endpoint_health (tenant) values ($1) on conflict do nothing", w.Sandbox.Tenant)
	w.Exec("insert into activity (tenant) values ($1) on conflict do nothing", w.Sandbox.Tenant)
	w.Exec(
		"insert into sweep_failures (tenant, sweep, retry_at, error) values ($1, 'settlement', now(), 'bad') on conflict do nothing",
		w.Sandbox.Tenant,
	)
	w.Exec(
		"insert into transaction_counts (tenant, upto, total) values ($1, '00000000-0000-0000-0000-000000000000', 0) on conflict do nothing",
		w.Sandbox.Tenant,
	)
	w.Exec("insert into clocks (tenant) values ($1) on conflict do nothing", w.Sandbox.Tenant)
	w.Exec("insert into fault_counts (tenant, name, digest) values ($1, 'lost', '') on conflict do nothing", w.Sandbox.Tenant)
	w.Exec(`insert into set_faults (tenant, name, entry, set_by) values ($1, 'set', '{"name":"set","webhook":{"drop":true}}', 'api')
		on conflict do nothing`, w.Sandbox.Tenant)
	w.Exec("insert into fault_acts (tenant, name, reference) values ($1, 'lost', 'busy') on conflict do nothing", w.Sandbox.Tenant)
	w.Exec("insert into fault_requests (tenant, reference) values ($1, 'busy') on conflict do nothing", w.Sandbox.Tenant)
	w.Exec(`insert into event_faults (tenant, event_id, attempt, name, not_before, awaits_next)
		values ($1, gen_random_uuid(), 1, 'lost', now(), false)`, w.Sandbox.Tenant)
	w.Exec(`insert into requests (tenant, id, kind, received_at, method, path)
		values ($1, gen_random_uuid(), 'failed', now(), 'GET', '/v1/payments')`, w.Sandbox.Tenant)
	w.Exec("insert into changes (tenant, kind) values ($1, 'start')", w.Sandbox.Tenant)
	w.Exec("insert into native_requests (tenant, id, operation, sent) values ($1, gen_random_uuid(), 'requesttopay', '{}')", w.Sandbox.Tenant)
	w.Exec(`insert into native_callbacks (tenant, id, transaction_id, kind, url, state)
		values ($1, gen_random_uuid(), gen_random_uuid(), '', 'http://127.0.0.1:1/', 'failed')`, w.Sandbox.Tenant)
	w.Exec("insert into callback_attempts (tenant, id, attempt, started_at, duration_ms) values ($1, gen_random_uuid(), 1, now(), 1)", w.Sandbox.Tenant)
	w.Exec(`insert into native_users (tenant, operator, user_id, made_with, callback_host) values ($1, 'mtn', gen_random_uuid(), '', '')
		on conflict do nothing`, w.Sandbox.Tenant)
	w.Exec("insert into native_settings (tenant, operator, name, made_with, value) values ($1, 'mtn', 'url', '', '{}') on conflict do nothing",
		w.Sandbox.Tenant)
	w.Exec(`insert into native_tokens (tenant, hash, operator, product, user_id, made_with, callback_host, expires_at)
		values ($1, '', 'mtn', 'collection', '', '', '', now()) on conflict do nothing`, w.Sandbox.Tenant)
	w.Exec(`insert into native_orders (tenant, operator, order_id, token_hash, made_with, amount, sent, expires_at)
		values ($1, 'orange', 'order', '', '', 1, '{}', now()) on conflict do nothing`, w.Sandbox.Tenant)
	w.Exec("insert into ledger_proofs (tenant) values ($1) on conflict do nothing", w.Sandbox.Tenant)
	w.Exec(`insert into account_proofs (tenant, account, verified_up_to, verified_at, balance, opening, adjustments, collections, refunds,
		disbursements) values ($1, 'RWF', 0, now(), 0, 0, 0, 0, 0, 0) on conflict do nothing`, w.Sandbox.Tenant)
	w.Exec(`insert into expectations (tenant, uid, name, run, lines, settle_ms, deadline, since_creation)
		values ($1, gen_random_uuid(), 'paid-once', '', '[]', 0, now(), false)`, w.Sandbox.Tenant)
	w.Exec("insert into receiver_checks (tenant, id, allow) values ($1, gen_random_uuid(), false)", w.Sandbox.Tenant)
	for table, rows := range w.TenantTables(w.Sandbox.Tenant) {
		if rows == 0 {
			w.T.Fatalf("there is nothing in %s", table)
		}
	}
}
