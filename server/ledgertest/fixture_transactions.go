package ledgertest

import (
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Collection makes a collection of 1000 RWF with a status. The merchant bears its commission of 15.
func (w *Fixture) Collection(reference string, status payments.Status, msisdn string) *ledger.NewCollection {
	w.T.Helper()
	id, err := payments.NewID(time.Now(), rand.Reader)
	if err != nil {
		w.T.Fatal(err)
	}
	market := sandboxes.Market{Operator: payments.MTN, Country: payments.Rwanda}
	return &ledger.NewCollection{
		Transaction: payments.Transaction{
			Details: payments.Details{Reference: reference, Currency: "RWF", MSISDN: msisdn}, ID: id,
			Type: payments.Collection, Status: status, OrderRef: reference, Store: "shop",
			EnvironmentID: w.Sandbox.Environments[market].ID, Operator: payments.MTN, Country: payments.Rwanda,
			Amount: 1000, Commission: 15, NetAmount: 985, AbsorptionPct: 100, Latency: time.Second,
		},
		RequestStamp: ledger.RequestStamp{
			RequestHash: RequestHash(reference), ConfigVersion: w.Sandbox.ConfigVersion, Clocked: w.Sandbox.Clocked,
		},
		ExpireAfter: time.Hour,
	}
}

// Create records a collection.
func (w *Fixture) Create(n *ledger.NewCollection) *payments.Transaction {
	w.T.Helper()
	if err := w.CreateCollection(w.T.Context(), w.Sandbox.Tenant, n); err != nil {
		w.T.Fatal(err)
	}
	return &n.Transaction
}

// Pending makes a pending collection of 1000 RWF that is due.
func (w *Fixture) Pending(reference, msisdn string) *payments.Transaction {
	w.T.Helper()
	return w.Create(w.Collection(reference, payments.Pending, msisdn))
}

// Multiply inserts n copies of a pending transaction.
func (w *Fixture) Multiply(t *payments.Transaction, n int) {
	w.T.Helper()
	w.Exec(`insert into transactions
		select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'reference', t.reference || '-' || i))).*
		from transactions t, generate_series(1, $2::int) i where t.id = $1`, postgres.UUID(t.ID), n)
}

// Settle settles due transactions once.
func (w *Fixture) Settle() ledger.BatchCounts {
	w.T.Helper()
	counts, err := SettleDue(w.T.Context(), w.Store, 1000)
	if err != nil {
		w.T.Fatal(err)
	}
	return counts
}

// Get reads a transaction.
func (w *Fixture) Get(id payments.ID) *payments.Transaction {
	w.T.Helper()
	t, err := w.GetTransaction(w.T.Context(), w.Sandbox.Tenant, id)
	if err != nil {
		w.T.Fatal(err)
	}
	return t
}

// Balance returns the balance of the SIM with a number.
func (w *Fixture) Balance(msisdn string) int64 {
	w.T.Helper()
	sim, err := w.FindSIM(w.T.Context(), w.Sandbox.Tenant, msisdn)
	if err != nil || sim == nil {
		w.T.Fatalf("SIM %s: %v, %v", msisdn, sim, err)
	}
	return sim.Balance
}

// Conserved fails the test unless the movements of every float and SIM add up to its balance in the order of their
// numbers, and each terminal transaction has its event.
func (w *Fixture) Conserved() {
	w.T.Helper()
	wrong := Read[[]string](w, `
		with accounts as (
		  select tenant, currency as account, balance, movements from floats
		  union all select tenant, sim_id::text, balance, movements from sims
		), changes as (
		  select tenant, coalesce(currency, sim_id::text) as account, number, delta, balance_after from adjustments
		  union all select tenant, float_currency, merchant_number, merchant_delta, merchant_balance_after from transactions where status = 'SUCCESS'
		  union all select tenant, sim_id::text, sim_number, sim_delta, sim_balance_after from transactions where sim_delta <> 0
		), chain as (
		  select *, lag(balance_after, 1, 0::bigint) over changes_of as before, row_number() over changes_of as place
		  from changes window changes_of as (partition by tenant, account order by number)
		)
		select coalesce(array_agg(what), '{}') from (
		  select 'sum of ' || account as what from accounts a where balance <>
		    (select coalesce(sum(delta), 0) from changes c where c.tenant = a.tenant and c.account = a.account)
		  union all
		  select format('movement %s of %s, which is %s, from %s by %s to %s', place, account, number, before, delta, balance_after)
		  from chain join accounts using (tenant, account)
		  where number is distinct from place or balance_after is distinct from before + delta
		  union all
		  select format('movements of %s: %s', account, movements) from accounts a where movements <>
		    (select count(*) from changes c where c.tenant = a.tenant and c.account = a.account)
		  union all
		  select 'number of ' || id from transactions
		  where (status = 'SUCCESS') <> (merchant_number > 0) or (sim_delta <> 0) <> (sim_number > 0)
		  union all
		  select 'event of ' || id from transactions t where (status <> 'PENDING') <>
		    exists (select from events e where e.tenant = t.tenant and e.id = t.id)
		) x`)
	if len(wrong) > 0 {
		w.T.Fatalf("money or events do not add up: %v", wrong)
	}
}

// RequestHash returns bytes in place of the hash of the request with a reference. They are as long as a hash.
func RequestHash(reference string) []byte {
	hash := sha256.Sum256([]byte(reference))
	return hash[:]
}
