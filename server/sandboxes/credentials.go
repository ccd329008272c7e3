package sandboxes

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/secrets"
)

// SecretOverlap is the time for which a replaced signing secret still signs, beside its successor.
const SecretOverlap = 24 * time.Hour

// StoredCredentials are the credentials of a sandbox in the database.
type StoredCredentials struct {
	Version        int64     // version of the sandbox's configuration, which includes the credentials
	APIKeys        []KeyHash // keys that were not replaced: one, unless somebody changed the rows by hand
	KeyRotation    string    // as in [Credentials]
	SigningSecret  string
	SecretRotation string // as in [Credentials]
}

// String hides the signing secret when a value is printed.
func (StoredCredentials) String() string { return "(credentials)" }

// GoString returns the text of String.
func (c StoredCredentials) GoString() string { return c.String() }

// StoredCredentials reads the credentials of a sandbox. It returns the zero value if there are none, or no sandbox.
func (s *Registry) StoredCredentials(ctx context.Context, sandboxUID string) (StoredCredentials, error) {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return StoredCredentials{}, err
	}
	row, err := s.genericPlans().StoredCredentials(ctx, uid)
	if errors.Is(err, pgx.ErrNoRows) {
		return StoredCredentials{}, nil
	}
	if err != nil {
		return StoredCredentials{}, postgres.Classify(err, "reading the credentials")
	}
	stored := StoredCredentials{Version: row.Version, KeyRotation: row.KeyRotation, SecretRotation: row.SecretRotation}
	for _, hash := range row.Keys {
		stored.APIKeys = append(stored.APIKeys, KeyHash(hash))
	}
	if row.SigningSecret != nil {
		stored.SigningSecret, err = s.keys.Open(sandboxUID, row.SigningSecret)
	}
	return stored, err
}

// ApplyCredentials sets the credentials of a sandbox. The replaced key works for want.Grace longer. Keys that were
// replaced earlier work until they expire. With a grace of 0, no replaced key works. Every other key stops working. The
// replaced signing secret signs for [SecretOverlap] longer, and the two before it until they expire.
//
// It writes nothing if nothing changes. It returns [ErrNoOrganization] for a sandbox that was not applied,
// [ErrKeyTaken] for a key of another sandbox, and [ErrCredentialsChanged] if the configuration changed since the
// version want.Following.
func (s *Registry) ApplyCredentials(ctx context.Context, sandboxUID string, want Credentials) error {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return err
	}
	look := func() error {
		row, err := s.readOnlyQueries().FindOrganization(ctx, uid)
		if err != nil {
			return err
		}
		if row.OverlapOver {
			return errToWrite
		}
		c := &credentialsChange{store: s, q: s.readOnlyQueries(), org: row.Organization, owner: sandboxUID, want: want}
		return c.parts(ctx)
	}
	err = look()
	if errors.Is(err, errToWrite) {
		err = s.inTx(ctx, func(q *sqlc.Queries) error {
			org, err := q.LockOrganization(ctx, uid)
			if err != nil {
				return err
			}
			c := &credentialsChange{store: s, q: q, org: org, owner: sandboxUID, want: want}
			return c.apply(ctx)
		})
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNoOrganization
	}
	return postgres.Classify(err, "applying the credentials to the database")
}

// credentialsChange is one run of ApplyCredentials.
type credentialsChange struct {
	store *Registry
	q     *sqlc.Queries
	org   sqlc.Organization // locked
	owner string            // of the sealed secrets
	want  Credentials

	changed bool // something changed that readers of the configuration have to load
}

func (c *credentialsChange) parts(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.keys, c.signingSecret, c.rotations} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *credentialsChange) apply(ctx context.Context) error {
	if err := c.forgetPrevious(ctx); err != nil {
		return err
	}
	if err := c.parts(ctx); err != nil {
		return err
	}
	if err := noteFingerprint(ctx, c.q, c.org.Tenant); err != nil || !c.changed {
		return err
	}
	if c.want.Following != 0 && c.want.Following != c.org.Version {
		return ErrCredentialsChanged
	}
	if err := c.q.BumpVersion(ctx, c.org.Tenant); err != nil {
		return err
	}
	return keyIsFree(ctx, c.q, c.org.Tenant, c.want.APIKeyHash)
}

// forgetPrevious removes signing secrets whose overlap is over.
func (c *credentialsChange) forgetPrevious(ctx context.Context) error {
	if c.org.PreviousSecret == nil && len(c.org.OlderSecrets) == 0 {
		return nil
	}
	left, err := c.q.ForgetPreviousSecrets(ctx, c.org.Tenant)
	c.org.PreviousSecret, c.org.OlderSecrets = left.PreviousSecret, left.OlderSecrets
	return err
}

// keyIsFree returns ErrKeyTaken if another sandbox has the key. A caller that adds the key has raised the version in
// config_version first, so it holds the lock of that row. So of two sandboxes that apply the same key, the second sees
// the key of the first.
func keyIsFree(ctx context.Context, q *sqlc.Queries, tenant int64, hash KeyHash) error {
	taken, err := q.KeyOfAnother(ctx, hash[:], tenant)
	if err == nil && taken {
		err = ErrKeyTaken
	}
	return err
}

// CheckKeyIsFree returns [ErrKeyTaken] if a sandbox other than this one has the key, and [ErrNoOrganization] for a sandbox that
// was not applied. Another sandbox may get the key right after.
func (s *Registry) CheckKeyIsFree(ctx context.Context, sandboxUID string, hash KeyHash) error {
	uid, err := parseUID(sandboxUID)
	if err != nil {
		return err
	}
	row, err := s.unscoped().FindOrganization(ctx, uid)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNoOrganization
	}
	if err == nil {
		err = keyIsFree(ctx, s.unscoped(), row.Organization.Tenant, hash)
	}
	return postgres.Classify(err, "looking for a sandbox with the same key")
}

func (c *credentialsChange) keys(ctx context.Context) error {
	present, err := c.q.ListKeys(ctx, c.org.Tenant)
	if err != nil {
		return err
	}
	found := false
	for _, key := range present {
		if KeyHash(key.Hash) == c.want.APIKeyHash {
			found = true
			if err = c.reinstate(ctx, key); err == nil {
				err = c.native(ctx, key)
			}
		} else {
			err = c.retire(ctx, key)
		}
		if err != nil {
			return err
		}
	}
	if found {
		return nil
	}
	c.changed = true
	return c.q.InsertKey(ctx, c.org.Tenant, c.want.APIKeyHash[:], c.want.Native)
}

// native stores the wanted key's digests for the operators' own APIs.
func (c *credentialsChange) native(ctx context.Context, key sqlc.ListKeysRow) error {
	if c.want.Native == nil || sameNative(key.Native, c.want.Native) {
		return nil
	}
	c.changed = true
	return c.q.SetNativeCredentials(ctx, c.want.Native, c.org.Tenant, key.Hash)
}

// reinstate removes the expiry of the wanted key, which has an expiry if it was replaced before.
func (c *credentialsChange) reinstate(ctx context.Context, key sqlc.ListKeysRow) error {
	if !key.Replaced {
		return nil
	}
	c.changed = true
	return c.q.ReinstateKey(ctx, c.org.Tenant, key.Hash)
}

// retire ends a key that is not the wanted key, now or after the grace period. A key that was replaced earlier keeps
// its expiry.
func (c *credentialsChange) retire(ctx context.Context, key sqlc.ListKeysRow) error {
	mayStay := c.want.Grace > 0 && !key.Expired
	switch {
	case mayStay && key.Replaced:
		return nil
	case mayStay && c.want.Replaces != nil && KeyHash(key.Hash) == *c.want.Replaces:
		c.changed = true
		return c.q.ExpireKey(ctx, postgres.Milliseconds(c.want.Grace), c.org.Tenant, key.Hash)
	}
	c.changed = c.changed || !key.Expired // an expired key is in use nowhere
	return c.q.DeleteKey(ctx, c.org.Tenant, key.Hash)
}

func (c *credentialsChange) signingSecret(ctx context.Context) error {
	// A secret that cannot be decrypted is replaced without an overlap, by the one in the resource's Secret.
	present, err := c.store.keys.Open(c.owner, c.org.SigningSecret)
	if err == nil && present == c.want.SigningSecret {
		if err := c.store.resealSecrets(ctx, c.q, c.org); !errors.Is(err, secrets.ErrSealed) {
			return err
		}
		return nil // a previous secret that cannot be decrypted does not stop the present one
	}
	c.changed = true
	var previous []byte
	if err == nil {
		if previous, err = c.store.resealed(c.owner, c.org.SigningSecret); err != nil {
			return err
		}
	}
	sealed, err := c.store.keys.Seal(c.store.random, c.owner, c.want.SigningSecret)
	if err != nil {
		return err
	}
	return c.q.SetSigningSecret(ctx, sqlc.SetSigningSecretParams{
		SigningSecret: sealed, Previous: previous, OverlapMs: postgres.Milliseconds(SecretOverlap),
		Fingerprint: secrets.Fingerprint(c.want.SigningSecret), Tenant: c.org.Tenant,
	})
}

func (c *credentialsChange) rotations(ctx context.Context) error {
	if c.org.KeyRotation == c.want.KeyRotation && c.org.SecretRotation == c.want.SecretRotation {
		return nil
	}
	c.changed = true
	return c.q.SetRotations(ctx, c.want.KeyRotation, c.want.SecretRotation, c.org.Tenant)
}
