// Package nativestore keeps what requests to the operators' own APIs leave behind, beside transactions: users, tokens, and
// the checkouts that payers confirm on a page.
package nativestore

import (
	"context"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Store has the users, tokens and checkouts of all sandboxes.
type Store struct {
	core    ledgerdb.Core
	secrets *postgres.SharedLookup[secret, struct{}]
}

// New returns the store of a database.
func New(core ledgerdb.Core) *Store {
	s := &Store{core: core}
	s.secrets = postgres.NewSharedLookup(core.DB, s.readSecrets)
	return s
}

// secret is what somebody sends in place of a key: a token of an operator's own API, or that of the page of an order.
type secret struct {
	tenant   int64
	operator payments.Operator
	hash     sandboxes.KeyHash
}

// KnowsNativeSecret reports whether a sandbox has issued a token of an operator's own API, or opened an order, with this
// hash. Anybody can send a token, so it takes no share of the sandbox's connections.
func (s *Store) KnowsNativeSecret(
	ctx context.Context, tenant int64, operator payments.Operator, hash sandboxes.KeyHash,
) (bool, error) {
	_, known, err := s.secrets.Find(ctx, secret{tenant, operator, hash})
	return known, postgres.Classify(err, "looking up the token")
}

func (s *Store) readSecrets(ctx context.Context, asked []secret) (map[secret]struct{}, error) {
	var tenants []int64
	var operators []string
	var hashes [][]byte
	for i := range asked {
		tenants, operators = append(tenants, asked[i].tenant), append(operators, string(asked[i].operator))
		hashes = append(hashes, asked[i].hash[:])
	}
	rows, err := s.core.Polling().KnownNativeSecrets(ctx, tenants, operators, hashes)
	known := map[secret]struct{}{}
	for _, row := range rows {
		known[secret{row.Tenant, payments.Operator(row.Operator), sandboxes.KeyHash(row.Hash)}] = struct{}{}
	}
	return known, err
}
