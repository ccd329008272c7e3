package ledger_test

import (
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// The statements of docs/backup.md give a restored database's rows to resources that have other UIDs than before.
func TestRestoreIntoANewCluster(t *testing.T) {
	w := newFixture(t)
	statements, err := os.ReadFile("../../docs/restore/new-cluster.sql")
	if err != nil {
		t.Fatal(err)
	}
	alice := w.Client("alice", "+250788000001", 5000)
	w.Client("bob", "+250788000002", 300)
	other := w.beside("untouched")
	before := w.Apply()
	paid := w.Create(w.Collection("paid", payments.Success, alice.MSISDN))
	pending := w.Create(w.Collection("pending", payments.Pending, alice.MSISDN))
	balance := w.Balance(alice.MSISDN)

	sandbox, sim := uuid.NewString(), uuid.NewString()
	conn, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	for _, statement := range []string{
		"create temporary table resources (namespace text, sandbox text, testclient text, uid uuid)",
		"insert into resources values ('team', 'checkout', null, '" + sandbox + "'), ('team', 'checkout', 'alice', '" + sim + "')",
		string(statements),
	} {
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}

	w.Config.UID, alice.UID = sandbox, sim
	after := w.Apply()
	if after.OrganizationID != before.OrganizationID || after.Balances["RWF"] != before.Balances["RWF"]+985 {
		t.Errorf("the sandbox is %+v, it was %+v before a payment of 985", after, before)
	}
	if state, err := w.ApplyTestClient(t.Context(), sandbox, alice); err != nil || state.Balance != balance {
		t.Errorf("the test client has %d, %v; it had %d", state.Balance, err, balance)
	}
	for _, want := range []*payments.Transaction{paid, pending} {
		if got := w.Get(want.ID); got.Status != want.Status {
			t.Errorf("the transaction %s is %s, it was %s", got.Reference, got.Status, want.Status)
		}
	}
	if stored, err := w.StoredCredentials(
		t.Context(),
		sandbox,
	); err != nil || stored.SigningSecret != "" ||
		!slices.Equal(stored.APIKeys, []sandboxes.KeyHash{w.Key}) {
		t.Errorf("the stored key is not the former one, or the signing secret is not left to the Secret: %v", err)
	}
	if stored, err := w.StoredCredentials(t.Context(), other.Config.UID); err != nil || stored.SigningSecret != secret {
		t.Errorf("the secret of a sandbox that is not restored: %v", err)
	}
	w.Conserved()

	// They know every column that holds a UID.
	columns := read[[]string](w, `select array_agg(table_name || '.' || column_name order by 1) from information_schema.columns
		join information_schema.tables using (table_schema, table_name) where table_type = 'BASE TABLE' and table_schema = 'public' and column_name in ('resource_uid', 'sim_id')`)
	known := []string{"account_proofs.sim_id", "adjustments.sim_id", "organizations.resource_uid", "retired_tenants.resource_uid", "sims.sim_id", "transactions.sim_id"}
	slices.Sort(columns)
	if !slices.Equal(columns, known) {
		t.Errorf("UIDs stand in %q; docs/restore/new-cluster.sql knows of %q", columns, known)
	}
}
