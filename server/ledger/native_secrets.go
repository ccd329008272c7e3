package ledger

import (
	"context"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// nativeSecret is what somebody sends in place of a key: a token of an operator's own API, or that of the page of an order.
type nativeSecret struct {
	tenant   int64
	operator payments.Operator
	hash     sandboxes.KeyHash
}

// KnowsNativeSecret reports whether a sandbox has issued a token of an operator's own API, or opened an order, with this
// hash. Anybody can send a token, so it takes no share of the sandbox's connections.
func (l *Ledger) KnowsNativeSecret(
	ctx context.Context, tenant int64, operator payments.Operator, hash sandboxes.KeyHash,
) (bool, error) {
	_, known, err := l.nativeSecrets.Find(ctx, nativeSecret{tenant, operator, hash})
	return known, postgres.Classify(err, "looking up the token")
}

func (l *Ledger) readNativeSecrets(ctx context.Context, asked []nativeSecret) (map[nativeSecret]struct{}, error) {
	var tenants []int64
	var operators []string
	var hashes [][]byte
	for i := range asked {
		tenants, operators = append(tenants, asked[i].tenant), append(operators, string(asked[i].operator))
		hashes = append(hashes, asked[i].hash[:])
	}
	rows, err := l.core.Polling().KnownNativeSecrets(ctx, tenants, operators, hashes)
	known := map[nativeSecret]struct{}{}
	for _, row := range rows {
		known[nativeSecret{row.Tenant, payments.Operator(row.Operator), sandboxes.KeyHash(row.Hash)}] = struct{}{}
	}
	return known, err
}
