package ledger_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A privilege is worth nothing without a policy, and a policy nobody needs is one too many.
func TestRolesHavePoliciesForTheirPrivileges(t *testing.T) {
	w := newFixture(t)
	for table := range w.TenantTables(w.Sandbox.Tenant) {
		for _, role := range []string{ledgertest.API, ledgertest.Worker, ledgertest.Controller} {
			for _, kind := range kinds {
				covered := w.Count(`select count(*) from pg_policies where schemaname = 'public' and tablename = $1 and $2::name = any(roles)
					and cmd in ('ALL', upper($3))`, table, role, kind) > 0
				if may := mayAs(w, role, kind, table) != nil; may && !covered {
					t.Errorf("%s may %s on %s and has no policy for it: see the section on roles in migrations/00001_schema.sql", role, kind, table)
				}
			}
		}
	}
}

func TestRolesAreNoMoreThanGroups(t *testing.T) {
	w := newFixture(t)
	for _, role := range []string{ledgertest.API, ledgertest.Worker, ledgertest.Controller} {
		if read[bool](
			w,
			"select rolcanlogin or rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolinherit from pg_roles where rolname = $1",
			role,
		) {
			t.Errorf("%s has more than it needs", role)
		}
	}
	member := `select array_agg(m.rolname::text order by 1) from pg_auth_members a join pg_roles g on g.oid = a.roleid join pg_roles m on m.oid = a.member
		where g.rolname = 'cauri_tenant' and m.rolname like 'cauri\_%'`
	if got := read[[]string](w, member); !slices.Equal(got, []string{ledgertest.API}) {
		t.Errorf("in the scope of a tenant go %v, want the api alone", got)
	}
}

// What each process may not do though it holds its database's password. Two sandboxes with rows in every table make sure that
// there is something to see.
func TestRolesAreRefused(t *testing.T) {
	w, _ := scopes(t)
	cases := map[string][]string{
		ledgertest.API: {
			"select signing_secret from organizations",
			"select previous_secret from organizations",
			"select * from organizations",
			"select from operator_credentials",
			"select webhook_url from organizations",
			"select from transactions",
			"select from events",
			"select from sims",
			"select from floats",
			"select from adjustments",
			"select request_body from requests",
			"update requests set status = 500",
			"update organizations set requests_logged_until = now()", "update organizations set followed_until = now()",
			"update organizations set suspended = false",
			"update organizations set version = 0",
			"insert into api_keys (tenant, hash) values (1, '')",
			"delete from api_keys",
			"update environments set enabled = true",
			"insert into stores (tenant, slug) values (1, 'mine')",
			"update config_version set version = 0",
			"delete from retired_tenants",
			"select nextval('tenant_numbers')",
			"set role cauri_worker",
			"set role cauri_controller",
		},
		ledgertest.Worker: {
			"select hash from api_keys",
			"insert into api_keys (tenant, hash) values (1, '')",
			"update api_keys set expires_at = null",
			"update organizations set webhook_url = 'http://mine'",
			"update organizations set signing_secret = null",
			"delete from organizations",
			"update environments set enabled = true",
			"insert into stores (tenant, slug) values (1, 'mine')",
			"update operator_credentials set base_url = 'http://mine'",
			"update config_version set version = 0",
			"update sims set msisdn = '+1'",
			"update transactions set amount = 1",
			"update transactions set tenant = 1",
			"insert into transactions (tenant) values (1)",
			"insert into adjustments (tenant) values (1)",
			"select path from requests",
			"select log_all_requests()", "select follow_sandbox()",
			"set role cauri_tenant",
			"set role cauri_controller",
		},
		ledgertest.Controller: {
			"insert into transactions (tenant) values (1)", "update transactions set status = 'SUCCESS'", "select msisdn from transactions",
			"insert into events (tenant) values (1)", "update events set state = 'queued'", "select body from events",
			"select response_body from delivery_attempts", "insert into delivery_attempts (tenant) values (1)",
			"select path from requests", "insert into requests (tenant) values (1)", "select log_all_requests()", "select follow_sandbox()",
			"set role cauri_tenant", "set role cauri_worker",
		},
	}
	for role, statements := range cases {
		conn := ledgertest.Connect(t, ledgertest.URLAs(t, w.URL, role))
		statements = append(statements, "create table mine (a int)", "alter table floats disable row level security", "truncate transactions",
			"drop policy tenant on transactions", "update schema_version set is_applied = false")
		for _, statement := range statements {
			_, err := conn.PgConn().Exec(t.Context(), statement).ReadAll()
			if !isRefusal(err) && (err == nil || !strings.Contains(err.Error(), "must be owner")) {
				t.Errorf("%s: %s: got %v, want insufficient privilege", role, statement, err)
			}
		}
	}
}

// The worker and the controller remove the rows of tenants that stand for nothing any more, and of no others: the WHERE is left
// out here, as a mistake would.
func TestRolesDeleteOnlyWhatIsRetired(t *testing.T) {
	w, other := scopes(t)
	if err := other.DeleteSandbox(t.Context(), other.Config.UID); err != nil {
		t.Fatal(err)
	}
	w.Exec(
		"insert into floats (tenant, currency, balance, opening) values ($1, 'XOF', 1, 1)",
		other.Sandbox.Tenant,
	) // written while it was deleted
	for role, tables := range map[string][]string{
		ledgertest.Worker:     {"transactions", "floats", "sims", "api_keys", "environments", "stores", "operator_credentials", "adjustments"},
		ledgertest.Controller: {"transactions", "floats", "events", "delivery_attempts", "environments", "stores", "adjustments"},
	} {
		conn := ledgertest.Connect(t, ledgertest.URLAs(t, w.URL, role))
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			own := w.own(table, w.Sandbox.Tenant)
			tag, err := tx.Exec(t.Context(), "delete from "+table)
			if want := int64(w.Count("select count(*) from "+table)) - own; err != nil || tag.RowsAffected() != want || own == 0 {
				t.Errorf("%s: delete from %s: %v, %v, want %d rows and the %d of the sandbox left", role, table, tag, err, want, own)
			}
		}
		_ = tx.Rollback(t.Context())
	}
}

// Each process does its work under its own role; the rest of what it does is tested so where it is tested, see ledgertest.OpenAs.
func TestALifeUnderTheRoles(t *testing.T) {
	w := newFixture(t)
	controller, api, worker := ledgertest.OpenAs(
		t,
		w.URL,
		ledgertest.Controller,
	), ledgertest.OpenAs(
		t,
		w.URL,
		ledgertest.API,
	), ledgertest.OpenAs(
		t,
		w.URL,
		ledgertest.Worker,
	)
	w.Store = controller
	w.Config.LatencyPercent = 0
	w.Apply()
	credentials := sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: ledgertest.Secret}
	if err := controller.ApplyCredentials(t.Context(), w.Config.UID, credentials); err != nil {
		t.Fatal(err)
	}
	w.Client("alice", alice, 5000)

	w.Store = api
	w.Reload()
	w.Create(w.Collection("r1", payments.Success, alice))
	w.Pending("r2", alice)
	if list, err := api.ListTransactions(t.Context(), w.Sandbox.Tenant, lists.Filter{}, nil, 10); err != nil || len(list) != 2 {
		t.Errorf("listed %d, %v", len(list), err)
	}

	w.Store = worker
	w.Exec("update transactions set due_at = now() where due_at is not null")
	if settled, err := ledgertest.SettleDue(t.Context(), worker, 10); err != nil || settled.Claimed != 1 {
		t.Errorf("settled %+v, %v", settled, err)
	}

	w.Store = controller
	w.Conserved()
	if err := controller.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Error(err)
	}
	if err := worker.PurgeRetired(t.Context()); err != nil {
		t.Error(err)
	}
}

// A controller that logs in as itself cannot change the schema, and need not while that is up to date.
func TestControllersUserMigratesNothing(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	if err := postgres.Migrate(t.Context(), ledgertest.URLAs(t, url, ledgertest.Controller)); err != nil {
		t.Errorf("an up-to-date schema: %v", err)
	}
	empty := ledgertest.Empty(t)
	if err := postgres.Migrate(
		t.Context(),
		ledgertest.URLAs(t, empty, ledgertest.Controller),
	); err == nil ||
		!strings.Contains(err.Error(), "run `cauri migrate` as the owner") {
		t.Errorf("by a user who may not: got %v", err)
	}
}
