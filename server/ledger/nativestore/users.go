package nativestore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// User is a user of an operator's own API that a request to that API created.
type User struct {
	Operator     payments.Operator
	ID           payments.ID
	MadeWith     sandboxes.KeyHash // the API key; the user is valid as long as the key
	SecretHash   []byte            // nil for a user without a password
	CallbackHost string
}

// MaxUsers is how many users with a valid API key a sandbox may have at one operator.
const MaxUsers = 100

// ErrTooManyUsers is returned for a user beyond [MaxUsers].
var ErrTooManyUsers = errors.New("the sandbox has as many users as it may have")

// AddNativeUser adds a user. It returns false if a user has this id.
func (s *Store) AddNativeUser(ctx context.Context, tenant int64, u User) (added bool, err error) {
	var row sqlc.AddNativeUserRow
	err = s.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) (err error) {
		if err := q.LockNativeUsers(ctx, tenant); err != nil {
			return err
		}
		if err := q.RemoveEndedNativeUsers(ctx, tenant, string(u.Operator)); err != nil {
			return err
		}
		row, err = q.AddNativeUser(ctx, sqlc.AddNativeUserParams{
			Tenant: tenant, Operator: string(u.Operator), UserID: postgres.UUID(u.ID), MadeWith: u.MadeWith[:], CallbackHost: u.CallbackHost,
			Most: MaxUsers,
		})
		return err
	})
	if err == nil && !row.Added && !row.Taken {
		err = ErrTooManyUsers
	}
	return row.Added, postgres.ClassifyWrite(err, "making the user")
}

// FindNativeUser returns a user, or ledger.ErrNotFound.
func (s *Store) FindNativeUser(ctx context.Context, tenant int64, operator payments.Operator, id payments.ID) (User, error) {
	row, err := s.core.Tenant(tenant).FindNativeUser(ctx, tenant, string(operator), postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return User{}, ledgerdb.ErrNotFound
	}
	if err != nil {
		return User{}, postgres.Classify(err, "looking up the user")
	}
	return User{
		Operator: operator, ID: id, MadeWith: sandboxes.KeyHash(row.MadeWith), SecretHash: row.SecretHash, CallbackHost: row.CallbackHost,
	}, nil
}

// SetNativeUserSecret gives a user a password, or returns ledger.ErrNotFound.
func (s *Store) SetNativeUserSecret(ctx context.Context, tenant int64, operator payments.Operator, id payments.ID, hash []byte) error {
	rows, err := s.core.Tenant(tenant).SetNativeUserSecret(ctx, hash, tenant, string(operator), postgres.UUID(id))
	if err == nil && rows == 0 {
		return ledgerdb.ErrNotFound
	}
	return postgres.ClassifyWrite(err, "giving the user a password")
}
