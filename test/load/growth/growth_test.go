package growth_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/test/load/growth"
	"github.com/cauri-dev/cauri/test/system"
)

// A filled database is in a state that Cauri could have reached: all invariants of the audit hold.
func TestWhatIsMadeHolds(t *testing.T) {
	for name, size := range map[string]growth.Size{
		"alike":         {Transactions: 2537, Sandboxes: 10},
		"one is larger": {Transactions: 5000, Sandboxes: 7, Large: 1250},
		"one sandbox":   {Transactions: 1001, Sandboxes: 1},
		"half":          {Transactions: 1000, Sandboxes: 2, Large: 500},
	} {
		t.Run(name, func(t *testing.T) {
			url := ledgertest.URL(t)
			conn := ledgertest.Connect(t, url)
			first, err := growth.Fill(t.Context(), conn, size, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{})
			if err != nil {
				t.Fatal(err)
			}
			problems, err := system.Audit(t.Context(), tx)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range problems {
				t.Error(problem)
			}
			count := func(sql string, args ...any) (n int64) {
				t.Helper()
				if err := tx.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			if n := count("select count(*) from transactions"); n != size.Transactions {
				t.Errorf("there are %d transactions, want %d", n, size.Transactions)
			}
			if n := count("select count(distinct tenant) from transactions"); n != size.Sandboxes {
				t.Errorf("%d sandboxes have transactions, want %d", n, size.Sandboxes)
			}
			if n := count("select count(*) from transactions where tenant = $1", first); size.Large > 0 && n != size.Large {
				t.Errorf("the first sandbox has %d transactions, want %d", n, size.Large)
			}
			if n := count(
				"select count(*) from transactions r left join transactions c on c.tenant = r.tenant and c.id = r.parent_id where r.type = 'refund' and c.id is null",
			); n > 0 {
				t.Errorf("%d refunds are of nothing", n)
			}
			if n := count("select count(*) from pg_indexes where tablename in ('transactions', 'events', 'delivery_attempts')"); n < 8 {
				t.Errorf("%d indexes are left", n)
			}
		})
	}
}
