package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// The role of the tenant scope may not even look into these: configuration, and what is of no use to a request.
var outOfReach = []string{"api_keys", "config_version", "environments", "retired_tenants"}

// scopes are two sandboxes with rows in every table.
func scopes(t *testing.T) (w, other *fixture) {
	t.Helper()
	w = newFixture(t)
	other = w.beside("other")
	w.Busy()
	other.Busy()
	return w, other
}

// within runs f as the role of the tenant scope, for a tenant or for none, and takes back what it did.
func (w *fixture) within(tenant int64, f func(tx pgx.Tx)) {
	w.T.Helper()
	tx, err := w.SQL.Begin(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(w.T.Context(), "set local role cauri_tenant"); err != nil {
		w.T.Fatal(err)
	}
	if tenant != 0 {
		if _, err := tx.Exec(w.T.Context(), "select set_config('cauri.tenant', $1, true)", strconv.FormatInt(tenant, 10)); err != nil {
			w.T.Fatal(err)
		}
	}
	f(tx)
}

// may lists the columns of a table that the role has a privilege on; for DELETE, "*".
func (w *fixture) may(privilege, table string) []string {
	w.T.Helper()
	if privilege == "delete" {
		return read[[]string](w, "select case when has_table_privilege('cauri_tenant', $1::text, 'delete') then array['*'] end", table)
	}
	return read[[]string](w, `select array_agg(column_name::text order by ordinal_position) from information_schema.columns
		where table_schema = 'public' and table_name = $2 and has_column_privilege('cauri_tenant', $2::text, column_name::text, $1)`, privilege, table)
}

// own counts the rows of a table that belong to a tenant.
func (w *fixture) own(table string, tenant int64) int64 {
	return int64(w.Count("select count(*) from "+table+" where tenant = $1", tenant))
}

func TestScopeShowsOnlyTheTenantsRows(t *testing.T) {
	w, _ := scopes(t)
	for table := range w.TenantTables(w.Sandbox.Tenant) {
		if w.may("select", table) == nil {
			continue
		}
		for tenant, want := range map[int64][]int64{w.Sandbox.Tenant: {w.Sandbox.Tenant}, 0: nil, 4711: nil} {
			w.within(tenant, func(tx pgx.Tx) {
				rows, err := tx.Query(t.Context(), "select distinct tenant from "+table)
				if err != nil {
					t.Fatal(err)
				}
				got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("tenant %d sees in %s the rows of %v", tenant, table, got)
				}
			})
		}
	}
}

func TestScopeLetsOnlyTheTenantsRowsBeChanged(t *testing.T) {
	w, _ := scopes(t)
	tried := 0
	for table := range w.TenantTables(w.Sandbox.Tenant) {
		var statements []string
		readable := w.may("select", table)
		for _, column := range w.may("update", table) {
			if !slices.Contains(readable, column) {
				continue // the statement below reads it
			}
			statements = append(statements, fmt.Sprintf("update %s set %s = %s", table, column, column))
		}
		if w.may("delete", table) != nil {
			statements = append(statements, "delete from "+table)
		}
		for _, statement := range statements {
			tried++
			own := w.own(table, w.Sandbox.Tenant)
			if statement == "delete from sims" {
				own = 0 // they are those of resources
			}
			for tenant, want := range map[int64]int64{w.Sandbox.Tenant: own, 0: 0, 4711: 0} {
				w.within(tenant, func(tx pgx.Tx) {
					tag, err := tx.Exec(t.Context(), statement)
					if err != nil || tag.RowsAffected() != want {
						t.Errorf("tenant %d: %s: %v, %v, want %d rows", tenant, statement, tag, err, want)
					}
				})
			}
		}
	}
	if tried < 4 {
		t.Errorf("only %d statements were tried", tried)
	}
}

// Rows of another tenant can neither be made nor made out of one's own.
func TestScopeTakesNoRowsForAnotherTenant(t *testing.T) {
	w, other := scopes(t)
	for _, statement := range []string{
		"insert into events (tenant, id, state) values (%d, gen_random_uuid(), 'queued')",
		`insert into transactions (tenant, id, type, status, reference, request_hash, order_ref, is_url_protected, store, scenario, env_id,
			operator, country, currency, msisdn, amount, commission, net_amount, absorption_pct, latency_ms, float_currency)
			values (%d, gen_random_uuid(), 'collection', 'PENDING', 'r', '', 'r', false, 's', '', 'e', 'o', 'c', 'c', 'm', 1, 0, 1, 0, 0, 'RWF')`,
		"insert into quota_usage (tenant, month, used) values (%d, '2026-01-01', 1)",
		`insert into sims (tenant, sim_id, name, msisdn, operator, country, currency, blocked, behavior, balance, opening, source)
			values (%d, gen_random_uuid(), '', '+1', '', '', '', false, '', 0, 0, 'api')`,
		"insert into adjustments (tenant, sim_id, number, delta, balance_after) values (%d, gen_random_uuid(), 1, 1, 1)",
		"insert into rate_usage (tenant, second, granted) values (%d, 1, 1)",
	} {
		for _, tenant := range []int64{w.Sandbox.Tenant, 0} {
			w.within(tenant, func(tx pgx.Tx) {
				_, err := tx.Exec(t.Context(), fmt.Sprintf(statement, other.Sandbox.Tenant))
				refused(t, statement, err)
			})
		}
		w.within(w.Sandbox.Tenant, func(tx pgx.Tx) { // its own it may
			if _, err := tx.Exec(t.Context(), fmt.Sprintf(statement, w.Sandbox.Tenant)); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		})
	}
}

func refused(t *testing.T, statement string, err error) {
	t.Helper()
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Code != pgerrcode.InsufficientPrivilege {
		t.Errorf("%s: got %v, want insufficient privilege", statement, err)
	}
}

func TestScopeHidesConfigurationAndSecrets(t *testing.T) {
	w, _ := scopes(t)
	var statements []string
	for _, table := range outOfReach {
		statements = append(statements, "select from "+table, "delete from "+table, "truncate "+table, "insert into "+table+" select from "+table)
		for _, privilege := range []string{"select", "insert", "update", "references", "delete"} {
			if columns := w.may(privilege, table); columns != nil {
				t.Errorf("%s on %s of %v", privilege, columns, table)
			}
		}
	}
	statements = append(
		statements,
		"select * from organizations",
		"select signing_secret from organizations",
		"select resource_uid from organizations",
		"update organizations set version = version",
		"update organizations set webhook_url = 'http://mine'",
		"delete from organizations",
		"insert into organizations (org_id) values ('mine')",
		"delete from adjustments",
		"truncate adjustments",
		"update adjustments set delta = 1",
		"update adjustments set number = 1",
		"delete from transactions",
		"update transactions set net_amount = 1",
		"update transactions set amount = 1",
		"update transactions set reference = 'mine'",
		"update transactions set sim_id = null",
		"update transactions set tenant = tenant",
		"update floats set tenant = tenant",
		"update floats set opening = 1",
		"delete from floats",
		"insert into floats (tenant, currency, balance, opening) values (1, 'USD', 1, 1)",
		"update sims set tenant = tenant",
		"update sims set msisdn = '+1'",
		"update sims set source = 'api'",
		"update sims set opening = 1",
		"insert into sims (tenant, sim_id, name, msisdn, operator, country, currency, blocked, behavior, balance, opening) "+
			"values (current_tenant(), gen_random_uuid(), '', '+1', '', '', '', false, '', 0, 0)",
		"update events set attempts = 0",
		"update events set tenant = tenant",
		"update events set created_at = now()",
		"delete from events",
		"delete from delivery_attempts",
		"select * from stores",
		"delete from stores",
		"update stores set tenant = tenant",
		"insert into stores (tenant, slug) values (current_tenant(), 'mine')",
		"select from operator_credentials",
		"delete from operator_credentials",
		"alter table floats disable row level security",
		"set local row_security = off; select from floats",
		"create table mine (a int)",
		"select nextval('tenant_numbers')",
	)
	for _, statement := range statements {
		w.within(w.Sandbox.Tenant, func(tx pgx.Tx) {
			_, err := tx.Conn().PgConn().Exec(t.Context(), statement).ReadAll()
			refused(t, statement, err)
		})
	}
	if diff := cmp.Diff([]string{"select"}, privilegesOn(w, "organizations")); diff != "" {
		t.Errorf("privileges on organizations (-want +got):\n%s", diff)
	}
	if columns := w.may("select", "organizations"); slices.Contains(columns, "signing_secret") || slices.Contains(columns, "resource_uid") {
		t.Errorf("the role sees %v of organizations", columns)
	}
}

func privilegesOn(w *fixture, table string) (held []string) {
	for _, privilege := range []string{"select", "insert", "update", "references", "delete"} {
		if w.may(privilege, table) != nil {
			held = append(held, privilege)
		}
	}
	return held
}

// A table that is added later must not be forgotten.
func TestEveryTenantTableIsScoped(t *testing.T) {
	w := newFixture(t)
	for table := range w.TenantTables(w.Sandbox.Tenant) {
		if !read[bool](w, "select relrowsecurity from pg_class where relname = $1 and relnamespace = 'public'::regnamespace", table) {
			t.Errorf("%s has no row level security", table)
		}
		if got := w.Count(
			"select count(*) from pg_policies where tablename = $1 and roles = '{cauri_tenant}' and qual like '%tenant = current_tenant()%'",
			table,
		); got != 1 {
			t.Errorf("%s has %d policies of the tenant scope, want 1", table, got)
		}
		first := read[string](w, `select a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
			where i.indrelid = $1::regclass and i.indisprimary`, table)
		if table != "organizations" && first != "tenant" {
			t.Errorf("the primary key of %s begins with %s", table, first)
		}
	}
	if read[bool](
		w,
		"select rolcanlogin or rolsuper or rolbypassrls or rolcreaterole or rolcreatedb from pg_roles where rolname = 'cauri_tenant'",
	) {
		t.Error("the role of the tenant scope has more than it needs")
	}
}

// A query that is asked for another tenant's row by mistake finds nothing and does nothing.
func TestQueriesStayInTheScope(t *testing.T) {
	w, other := scopes(t)
	ids := read[[][]byte](other, "select array_agg(uuid_send(id)) from transactions where tenant = $1", other.Sandbox.Tenant)
	id := payments.ID(ids[0])
	q, foreign := w.Scoped(w.Sandbox.Tenant), other.Sandbox.Tenant
	before := w.Written()
	check := func(what string, err error) {
		t.Helper()
		var answer *pgconn.PgError
		if !errors.Is(err, pgx.ErrNoRows) && (!errors.As(err, &answer) || answer.Code != pgerrcode.InsufficientPrivilege) {
			t.Errorf("%s: got %v, want no rows", what, err)
		}
	}
	if _, err := w.Scoped(foreign).GetTransaction(t.Context(), foreign, postgres.UUID(id)); err != nil {
		t.Fatalf("its own tenant does not find it: %v", err)
	}
	lookUp := func(statement string, tenants ...int64) (found []int64) {
		w.within(w.Sandbox.Tenant, func(tx pgx.Tx) {
			uuids, versions := slices.Repeat([]pgtype.UUID{postgres.UUID(id)}, len(tenants)), slices.Repeat([]int64{1 << 40}, len(tenants))
			rows, err := tx.Query(t.Context(), statement, tenants, uuids, versions)
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				found = append(found, tenants[rows.RawValues()[0][7]-1])
			}
		})
		return found
	}
	anyVersion := strings.Replace(ledger.LookUpStatement, "and version = asked.version", "", 1)
	withoutTenant := strings.Replace(anyVersion, "tenant = asked.entered and id", "id", 1)
	if anyVersion == ledger.LookUpStatement || withoutTenant == anyVersion {
		t.Fatal("the conditions are not in LookUpStatement")
	}
	for _, statement := range []string{anyVersion, withoutTenant} {
		if found := lookUp(statement, w.Sandbox.Tenant, foreign, w.Sandbox.Tenant); !slices.Equal(found, []int64{foreign}) {
			t.Errorf("LookUpStatement finds it for the tenants %v, want %d", found, foreign)
		}
	}
	_, err := q.GetTransaction(t.Context(), foreign, postgres.UUID(id))
	check("GetTransaction", err)
	_, err = q.FindReference(t.Context(), foreign, "busy")
	check("FindReference", err)
	_, err = q.FindSIM(t.Context(), foreign, "+250788999999")
	check("FindSIM", err)
	_, err = q.BookCollection(t.Context(), sqlc.BookCollectionParams{
		Tenant: foreign, ConfigVersion: other.Sandbox.ConfigVersion, Reference: "new", NetAmount: 985, Commission: 15, MSISDN: "+250788999999",
		FloatCurrency: "RWF", ID: postgres.UUID(payments.ID{1}), RequestHash: []byte{}, Amount: 1000,
	})
	check("BookCollection", err)
	if _, err := w.GetTransaction(t.Context(), w.Sandbox.Tenant, id); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("GetTransaction: got %v, want ErrNotFound", err)
	}
	if _, err := w.GetTransactionBatched(t.Context(), w.Sandbox, id); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("GetTransactionBatched: got %v, want ErrNotFound", err)
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

// A connection that was in the scope of a tenant is an ordinary one again, also after a failure.
func TestConnectionLeavesTheScope(t *testing.T) {
	w := newFixture(t)
	s := w.Opened(ledgertest.Options{KeyRing: ledgertest.Ring(t, ledgertest.NewKey(t)), Options: postgres.Options{MaxConns: 1}})
	ordinary := func(after string) {
		t.Helper()
		if _, err := s.ApplySandbox(t.Context(), w.Config); err != nil {
			t.Errorf("after %s: %v", after, err)
		}
	}
	made := w.Create(w.Collection("r1", payments.Success, alice))
	if _, err := s.GetTransaction(t.Context(), w.Sandbox.Tenant, made.ID); err != nil {
		t.Error(err)
	}
	ordinary("a row")
	if _, err := s.GetTransaction(t.Context(), w.Sandbox.Tenant, payments.ID{}); !errors.Is(err, ledger.ErrNotFound) {
		t.Error(err)
	}
	ordinary("no row")
	n := w.Collection("r2", payments.Success, alice)
	n.Transaction.ID = made.ID // a duplicate that is nobody's fault
	if err := s.CreateCollection(t.Context(), w.Sandbox.Tenant, n); err == nil || errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	ordinary("an error")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.GetTransaction(ctx, w.Sandbox.Tenant, made.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ordinary("a caller that went away")
	w.Conserved()
}

// Who knows an older configuration than the present one, or a newer one than a replica of the api, is answered all the same.
func TestTransactionOfASandboxThatChanged(t *testing.T) {
	w := newFixture(t)
	made := w.Create(w.Collection("r1", payments.PINInvalid, alice))
	for _, since := range []int64{-1, 0, 1} {
		known := *w.Sandbox
		known.ConfigVersion += since
		got, err := w.GetTransactionBatched(t.Context(), &known, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		if want := w.Get(made.ID); cmp.Diff(want, got) != "" {
			t.Errorf("%d: (-want +got):\n%s", since, cmp.Diff(want, got))
		}
	}
}
