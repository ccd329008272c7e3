package nativestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Token is an access token of an operator's own API.
type Token struct {
	Hash         sandboxes.KeyHash // of the token
	Operator     payments.Operator
	Product      string
	UserID       string
	MadeWith     sandboxes.KeyHash // the API key; the token is valid as long as the key
	CallbackHost string            // the user's callback host; empty: any that the sandbox allows
	Lifetime     time.Duration     // time until the expiry, in sandbox time
}

// MaxTokens is how many tokens a sandbox may have at one operator.
const MaxTokens = 1000

// TokenKnown is the maximum time for which a process may use a token without looking it up again.
const TokenKnown = 10 * time.Second

// AddNativeToken stores a token. Beyond [MaxTokens], it ends the oldest tokens, after [TokenKnown] unless the
// sandbox is clocked, so that every process refuses a token from the same moment.
func (s *Store) AddNativeToken(ctx context.Context, tenant int64, t Token, clocked bool) error {
	known := TokenKnown
	if clocked {
		known = 0 // its tokens are always looked up, and its time may stand
	}
	err := s.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		if err := q.SortNothing(ctx); err != nil {
			return err
		}
		return q.AddNativeToken(ctx, sqlc.AddNativeTokenParams{
			Tenant: tenant, Hash: t.Hash[:], Operator: string(t.Operator), Product: t.Product, UserID: t.UserID, MadeWith: t.MadeWith[:],
			CallbackHost: t.CallbackHost, LifetimeMs: postgres.Milliseconds(t.Lifetime), Others: MaxTokens - 1,
			KnownMs: postgres.Milliseconds(known),
		})
	})
	return postgres.ClassifyWrite(err, "storing the token")
}

// ErrTokenExpired is the ledger.ErrNotFound of a token that has expired in sandbox time.
var ErrTokenExpired = fmt.Errorf("%w: the token has expired", ledgerdb.ErrNotFound)

// FindNativeToken returns a valid token, [ErrTokenExpired], or another ledger.ErrNotFound. The field Lifetime is the time until
// the token expires.
func (s *Store) FindNativeToken(
	ctx context.Context, tenant int64, operator payments.Operator, hash sandboxes.KeyHash,
) (Token, error) {
	row, err := s.core.Tenant(tenant).FindNativeToken(ctx, tenant, string(operator), hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return Token{}, ledgerdb.ErrNotFound
	}
	if err != nil {
		return Token{}, postgres.Classify(err, "looking up the token")
	}
	if row.RemainsMs <= 0 {
		return Token{}, ErrTokenExpired
	}
	return Token{
		Hash: hash, Operator: operator, Product: row.Product, UserID: row.UserID,
		MadeWith: sandboxes.KeyHash(row.MadeWith), CallbackHost: row.CallbackHost, Lifetime: postgres.FromMilliseconds(row.RemainsMs),
	}, nil
}
