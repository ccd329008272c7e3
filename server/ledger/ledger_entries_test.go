package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// entryLine is an entry in one line.
func entryLine(e *ledger.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", e.Number, e.Type, e.Reference)
	for _, p := range e.Postings {
		fmt.Fprintf(&b, " | %s %d %d", p.Account, p.Debit, p.Credit)
	}
	fmt.Fprintf(&b, " = %d", e.BalanceAfter)
	return b.String()
}

// entries are all entries of an account, read in pages of a size.
func (w *fixture) entries(of ledger.Account, size int) (all []ledger.Entry) {
	w.T.Helper()
	after := int64(0)
	for {
		_, page, err := w.ListEntries(w.T.Context(), w.Sandbox.Tenant, of, after, size)
		if err != nil {
			w.T.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), page[len(page)-1].Number
	}
}

func (w *fixture) entryLines(of ledger.Account, size int) (lines []string) {
	w.T.Helper()
	all := w.entries(of, size)
	for i := range all {
		lines = append(lines, entryLine(&all[i]))
	}
	return lines
}

func TestEntriesTellEveryMovement(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000)
	paid := w.Create(w.Collection("paid", payments.Success, alice))
	w.Create(w.Collection("outside", payments.Success, "+250788999999")) // nobody's number
	w.Create(w.Collection("failed", payments.UserCancelled, alice))
	w.Pending("pending", alice)
	w.Settle()
	w.refunded(paid.ID, "refund", 400)
	w.disburse(w.disbursement("payout", payments.Success, alice, 50))
	w.Config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 700}
	w.Apply()
	w.Client("alice", alice, 9000)

	want := []string{
		"1 opening  | opening:RWF 1000 0 | float:RWF 0 1000 = 1000",
		"2 collection paid | testClient:+250788000001 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 1985",
		"3 collection outside | outside:RWF 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 2970",
		"4 collection pending | testClient:+250788000001 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 3955",
		"5 refund refund | float:RWF 400 0 | testClient:+250788000001 0 400 = 3555",
		"6 disbursement payout | float:RWF 50 0 | testClient:+250788000001 0 50 = 3505",
		"7 adjustment  | adjustment:RWF 0 2805 | float:RWF 2805 0 = 700",
	}
	for _, size := range []int{1, 3, 100} {
		if diff := cmp.Diff(want, w.entryLines(ledger.Account{Currency: payments.RWF}, size)); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
	if diff := cmp.Diff([]string{
		"1 opening  | opening:RWF 5000 0 | testClient:+250788000001 0 5000 = 5000",
		"2 collection paid | testClient:+250788000001 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 4000",
		"3 collection pending | testClient:+250788000001 1000 0 | float:RWF 0 985 | commission:RWF 0 15 = 3000",
		"4 refund refund | float:RWF 400 0 | testClient:+250788000001 0 400 = 3400",
		"5 disbursement payout | float:RWF 50 0 | testClient:+250788000001 0 50 = 3450",
		"6 adjustment  | adjustment:RWF 5550 0 | testClient:+250788000001 0 5550 = 9000",
	}, w.entryLines(ledger.Account{MSISDN: alice}, 2)); diff != "" {
		t.Errorf("the test client (-want +got):\n%s", diff)
	}
	for _, unknown := range []ledger.Account{{MSISDN: "+250788999999"}, {Currency: "USD"}} {
		if _, _, err := w.ListEntries(t.Context(), w.Sandbox.Tenant, unknown, 0, 1); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s: %v", unknown, err)
		}
	}
	if account, page, err := w.ListEntries(t.Context(), w.Sandbox.Tenant, ledger.Account{}, 6, 10); err != nil || len(page) != 1 ||
		account != (ledger.Account{Currency: payments.RWF}) {
		t.Errorf("the first float is %s with %d entries, %v", account, len(page), err)
	}
}

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
	if all, balanced := w.accounts(10); !balanced || all[0].Movements != int64(n+1) {
		t.Fatalf("the accounts are %+v, balanced %t", all, balanced)
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
