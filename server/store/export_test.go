package store

import (
	"context"

	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// Behind are the queries that run behind the tenant wall.
func (s *Store) Behind(tenant int64) *db.Queries { return s.tenant(tenant) }

// UUIDOf is the form in which the queries take an id.
var UUIDOf = uuidOf

// SealSecret encrypts a secret, and OpenSecret decrypts it.
var (
	SealSecret = (*KeyRing).seal
	OpenSecret = (*KeyRing).open
)

// SigningSecret is the signing secret that is stored for a sandbox.
func (s *Store) SigningSecret(ctx context.Context, sandboxUID string) (string, error) {
	stored, err := s.StoredCredentials(ctx, sandboxUID)
	return stored.SigningSecret, err
}
