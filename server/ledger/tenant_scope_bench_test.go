package ledger_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// BenchmarkTenantScope reads a transaction by its key: as the owner of the tables, whom row level security does not bind, and in the
// tenant scope as the api does it. The difference is what the scope costs: a second statement in the same round trip, and the policy.
func BenchmarkTenantScope(b *testing.B) {
	url := ledgertest.URL(b)
	owner := ledgertest.Open(b, url)
	config := sandboxes.Config{
		UID:       "11111111-1111-1111-1111-111111111111",
		Namespace: "team",
		Name:      "checkout",
		Stores:    []string{"shop"},
		Environments: []sandboxes.EnvironmentConfig{
			{Operator: payments.MTN, Country: payments.Rwanda, Enabled: true, UnknownPolicy: payments.Reject},
		},
	}
	if _, err := owner.ApplySandbox(b.Context(), config); err != nil {
		b.Fatal(err)
	}
	pool, err := pgxpool.New(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	var tenant int64
	var key pgtype.UUID
	err = pool.QueryRow(b.Context(), `insert into transactions (tenant, id, type, status, completed_at, reference, request_hash, order_ref, is_url_protected,
		store, scenario, env_id, operator, country, currency, msisdn, amount, commission, net_amount, absorption_pct, latency_ms, float_currency, merchant_number)
		select tenant, gen_random_uuid(), 'collection', 'SUCCESS', now(), 'r', '', 'r', false, 's', '', 'e', 'mtn', 'RW', 'RWF', 'm', 1, 0, 1, 0, 0, 'RWF', 1
		from organizations returning tenant, id`).
		Scan(&tenant, &key)
	if err != nil {
		b.Fatal(err)
	}
	id := payments.ID(key.Bytes)
	b.Run("owner", func(b *testing.B) {
		for b.Loop() {
			if _, err := sqlc.New(pool).GetTransaction(b.Context(), tenant, postgres.UUID(id)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("scope", func(b *testing.B) {
		api := ledgertest.OpenAs(b, url, ledgertest.API)
		for b.Loop() {
			if _, err := api.GetTransaction(b.Context(), tenant, id); err != nil {
				b.Fatal(err)
			}
		}
	})
}
