package ledger_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// statement is a statement of package sqlc, which is not run.
type statement struct {
	sql  string
	args []any
}

var errNotRun = errors.New("not run")

func (s *statement) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	s.sql, s.args = sql, args
	return pgconn.CommandTag{}, errNotRun
}

func (s *statement) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	s.sql, s.args = sql, args
	return nil, errNotRun
}

func (s *statement) QueryRow(context.Context, string, ...any) pgx.Row {
	panic("no statement of one row is looked at")
}

// bookMany gives the sandbox's float n movements, of which every fifth is one of alice, and the proofs of all but the last ten.
func (w *fixture) bookMany(n int) (aliceID uuid.UUID) {
	w.T.Helper()
	aliceID = read[uuid.UUID](w, "select sim_id from sims where msisdn = $1", alice)
	w.Exec(`
		insert into transactions (tenant, id, type, status, reference, request_hash, order_ref, is_url_protected, store, scenario, env_id, operator,
		  country, currency, msisdn, amount, commission, net_amount, absorption_pct, latency_ms, completed_at, float_currency, merchant_delta,
		  merchant_balance_after, merchant_number, sim_id, sim_delta, sim_balance_after, sim_number)
		select $1, lpad(to_hex(i), 32, '0')::uuid, 'collection', 'SUCCESS', 'r' || i, '\x', 'o' || i, false, 'shop', '', 'env_1', 'mtn',
		  'RW', 'RWF', $2, 1, 0, 1, 100, 800, now(), 'RWF', 1, 1000 + i, 1 + i, $3::uuid, case when i % 5 = 0 then -1 else 0 end,
		  case when i % 5 = 0 then 5000000 - i / 5 end, case when i % 5 = 0 then 1 + i / 5 else 0 end
		from generate_series(1, $4::int) i`, w.Sandbox.Tenant, alice, aliceID, n)
	w.Exec("update floats set movements = 1 + $1, balance = 1000 + $1 where currency = 'RWF'", n)
	w.Exec("update sims set movements = 1 + $1 / 5, balance = 5000000 - $1 / 5", n)
	w.Exec(`insert into account_proofs (tenant, account, sim_id, verified_up_to, verified_at, balance, opening, adjustments, collections, refunds,
		  disbursements) values ($1, 'RWF', null, $2 - 9, now(), 1000 + $2 - 10, 1000, 0, $2 - 10, 0, 0),
		  ($1, $3::uuid::text, $3::uuid, $2 / 5 - 9, now(), 5000000 - $2 / 5 + 10, 5000000, 0, 10 - $2 / 5, 0, 0)`, w.Sandbox.Tenant, n, aliceID)
	w.Exec("analyze")
	return aliceID
}

// A page of entries, and the accounts with their proofs, read a few rows of an index, however many transactions there are and wherever the
// page is.
// With CAURI_TEST_WHOLE=1 there are a million.
func TestLedgerReadsNoMoreThanItTells(t *testing.T) {
	w := newFixture(t, func(c *sandboxes.Config) { c.OpeningFloat[payments.RWF] = 1000 })
	w.Client("alice", alice, 5_000_000)
	n := 50_000
	if os.Getenv("CAURI_TEST_WHOLE") != "" {
		n = 1_000_000
	}
	aliceID := w.bookMany(n)
	all, balanced, err := w.ListAccounts(t.Context(), w.Sandbox.Tenant, proof.Account{}, 10)
	if err != nil || !balanced || all[0].Movements != int64(n+1) {
		t.Fatalf("the accounts are %+v, balanced %t, %v", all, balanced, err)
	}
	const limit = 100
	ask := func(f func(q *sqlc.Queries) error) *statement {
		t.Helper()
		s := &statement{}
		if err := f(sqlc.New(s)); !errors.Is(err, errNotRun) {
			t.Fatal(err)
		}
		return s
	}
	tenant := w.Sandbox.Tenant
	statements := map[string]*statement{}
	for name, after := range map[string]int{"first": 0, "middle": n / 10, "last": n/5 - 50} {
		statements["the "+name+" page of the float"] = ask(func(q *sqlc.Queries) error {
			_, err := q.ListFloatEntries(t.Context(), tenant, "RWF", int64(after), limit)
			return err
		})
		statements["the "+name+" page of the test client"] = ask(func(q *sqlc.Queries) error {
			_, err := q.ListSIMEntries(t.Context(), sqlc.ListSIMEntriesParams{
				Tenant: tenant, SimID: postgres.UUID(aliceID), MSISDN: alice, Currency: "RWF", After: int64(after), Most: limit,
			})
			return err
		})
	}
	statements["the accounts"] = ask(func(q *sqlc.Queries) error {
		_, err := q.ListLedgerAccounts(t.Context(), tenant, limit, "", "")
		return err
	})
	for name, s := range statements {
		for _, generic := range []bool{false, true} {
			read := 0.0
			w.explain(tenant, generic, s.sql, s.args).each(func(p plan) {
				if p.Relation != "transactions" && !strings.HasPrefix(p.Index, "transactions") {
					return
				}
				if p.NodeType == "Seq Scan" || p.NodeType == "Index Scan" && !strings.Contains(p.Index, "movements") {
					t.Errorf("%s, generic %t: it is a %s of %s by %q", name, generic, p.NodeType, p.Index, p.IndexCond)
				}
				read += (p.Rows + p.Removed + p.RemovedIndex) * p.Loops
			})
			if read == 0 || read > 2*limit {
				t.Errorf("%s, generic %t: it reads %g of %d transactions", name, generic, read, n)
			}
		}
	}
}
