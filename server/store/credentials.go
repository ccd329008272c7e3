package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// SigningSecret returns the signing secret that is stored for a sandbox; it is empty when there is none yet, or no sandbox.
func (s *Store) SigningSecret(ctx context.Context, sandboxUID string) (string, error) {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return "", err
	}
	row, err := s.system().SigningSecret(ctx, uid)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && row.SigningSecret == nil {
		return "", nil
	}
	if err != nil {
		return "", classify(err, "reading the signing secret")
	}
	return s.keys.open(sandboxUID, row.SigningSecret)
}

// ApplyCredentials makes the given ones the sandbox's: every other API key stops working. It writes nothing when they are
// already, and returns [ErrNoOrganization] for a sandbox that was not applied and [ErrKeyTaken] for a key of another sandbox.
func (s *Store) ApplyCredentials(ctx context.Context, sandboxUID string, want Credentials) error {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return err
	}
	err = s.inTx(ctx, func(q *db.Queries) error {
		org, err := q.LockOrganization(ctx, uid)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoOrganization
		}
		if err != nil {
			return err
		}
		newKeys, err := applyKey(ctx, q, org.Tenant, want.APIKeyHash[:])
		if err != nil {
			return err
		}
		newSecret, err := s.applySecret(ctx, q, org, sandboxUID, want.SigningSecret)
		if err != nil || !newKeys && !newSecret {
			return err
		}
		if err := q.BumpVersion(ctx, org.Tenant); err != nil {
			return err
		}
		return keyIsFree(ctx, q, org.Tenant, want.APIKeyHash[:])
	})
	return classify(err, "applying the credentials to the database")
}

// keyIsFree returns ErrKeyTaken if another sandbox has the key. It is asked after the version was bumped: whoever gives out
// a key holds that row's lock, so that of two sandboxes with one key the second sees the first.
func keyIsFree(ctx context.Context, q *db.Queries, tenant int64, hash []byte) error {
	taken, err := q.KeyOfAnother(ctx, hash, tenant)
	if err == nil && taken {
		err = ErrKeyTaken
	}
	return err
}

func applyKey(ctx context.Context, q *db.Queries, tenant int64, hash []byte) (changed bool, err error) {
	present, err := q.ListKeyHashes(ctx, tenant)
	if err != nil {
		return false, err
	}
	found := false
	for _, other := range present {
		if bytes.Equal(other, hash) {
			found = true
			continue
		}
		changed = true
		if err := q.DeleteKey(ctx, tenant, other); err != nil {
			return false, err
		}
	}
	if found {
		return changed, nil
	}
	return true, q.InsertKey(ctx, tenant, hash)
}

func (s *Store) applySecret(ctx context.Context, q *db.Queries, org db.Organization, owner, secret string) (changed bool, err error) {
	if s.keys.current(org.SigningSecret) {
		// One that cannot be opened is replaced: the resource's Secret says what it has to be. So is one that an older key
		// sealed, so that the key can be taken away.
		if present, err := s.keys.open(owner, org.SigningSecret); err == nil && present == secret {
			return false, nil
		}
	}
	sealed, err := s.keys.seal(s.random, owner, secret)
	if err != nil {
		return false, err
	}
	return true, q.UpdateSigningSecret(ctx, sealed, org.Tenant)
}
