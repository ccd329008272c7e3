package sandboxes

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/secrets"
)

// SealedSecrets is the number of stored secrets that a key has encrypted.
type SealedSecrets struct {
	Key     string // the key's name, see [secrets.KeyRing.Keys]
	Secrets int
}

// SealedSecrets counts the stored secrets by the keys that encrypted them. It leaves out keys that encrypted none.
func (s *Registry) SealedSecrets(ctx context.Context) ([]SealedSecrets, error) {
	rows, err := s.unscoped().CountSealed(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "counting the stored secrets")
	}
	counts := make([]SealedSecrets, len(rows))
	for i, row := range rows {
		counts[i] = SealedSecrets{Key: hex.EncodeToString(row.Key), Secrets: int(row.Secrets)}
	}
	return counts, nil
}

// Resealed is the result of [Registry.Reseal].
type Resealed struct {
	Secrets int // encrypted again
	Failed  int // not decryptable: the key is not in the key ring, or the secret was changed
}

// resealBatch is the most rows that one statement reads.
const resealBatch = 500

// Reseal encrypts the stored secrets of older keys again by the first key of the ring, one row at a time. It does not
// overwrite a secret that changes in the meantime.
func (s *Registry) Reseal(ctx context.Context) (done Resealed, err error) {
	if s.keys == nil {
		return done, secrets.ErrNoKeyRing
	}
	if err := s.resealOrganizations(ctx, &done); err != nil {
		return done, postgres.Classify(err, "encrypting signing secrets again")
	}
	return done, postgres.Classify(s.resealOperators(ctx, &done), "encrypting operators' credentials again")
}

func (s *Registry) resealOrganizations(ctx context.Context, done *Resealed) error {
	q := s.unscoped()
	for after := int64(-1); ; {
		rows, err := q.SecretsSealedByOthers(ctx, after, s.keys.FirstID(), resealBatch)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.Tenant
			org := sqlc.Organization{
				Tenant: row.Tenant, ResourceUid: row.ResourceUid, SigningSecret: row.SigningSecret, PreviousSecret: row.PreviousSecret,
				OlderSecrets: row.OlderSecrets,
			}
			if err := done.count(s.resealSecrets(ctx, q, org)); err != nil {
				return err
			}
		}
		if len(rows) < resealBatch {
			return nil
		}
	}
}

func (s *Registry) resealOperators(ctx context.Context, done *Resealed) error {
	q := s.unscoped()
	page := sqlc.AccessSealedByOthersParams{Tenant: -1, Key: s.keys.FirstID(), Batch: resealBatch}
	for {
		rows, err := q.AccessSealedByOthers(ctx, page)
		if err != nil {
			return err
		}
		for _, row := range rows {
			page.Tenant, page.Store, page.Operator, page.Country = row.Tenant, row.Store, row.Operator, row.Country
			sealed, err := s.resealed(row.ResourceUid.String(), row.Sealed)
			if err == nil {
				_, err = q.ResealAccess(ctx, sqlc.ResealAccessParams{
					Sealed: sealed, Tenant: row.Tenant, Store: row.Store, Operator: row.Operator, Country: row.Country, Before: row.Sealed,
				})
			}
			if err := done.count(err); err != nil {
				return err
			}
		}
		if len(rows) < resealBatch {
			return nil
		}
	}
}

// count counts one row. It returns an error only if the error concerns all rows, so that the run has to stop.
func (r *Resealed) count(err error) error {
	switch {
	case err == nil:
		r.Secrets++
	case errors.Is(err, secrets.ErrSealed):
		r.Failed++
	default:
		return err
	}
	return nil
}

// resealSecrets encrypts the signing secrets of an organization by the ring's first key. It keeps the times at which
// previous secrets end. It also keeps a previous secret that it cannot decrypt, since the key may be missing by
// mistake.
func (s *Registry) resealSecrets(ctx context.Context, q *sqlc.Queries, org sqlc.Organization) error {
	owner := org.ResourceUid.String()
	signing, err := s.resealed(owner, org.SigningSecret)
	if err != nil {
		return err
	}
	var previousErr error
	keep := func(sealed []byte) []byte {
		again, err := s.resealed(owner, sealed)
		if err != nil {
			previousErr = err
			return sealed
		}
		return again
	}
	previous, older := keep(org.PreviousSecret), make([][]byte, len(org.OlderSecrets))
	for i, sealed := range org.OlderSecrets {
		older[i] = keep(sealed)
	}
	if bytes.Equal(signing, org.SigningSecret) && bytes.Equal(previous, org.PreviousSecret) &&
		slices.EqualFunc(older, org.OlderSecrets, bytes.Equal) {
		return previousErr
	}
	if _, err := q.ResealSecrets(ctx, sqlc.ResealSecretsParams{
		SigningSecret: signing, PreviousSecret: previous, OlderSecrets: older, Tenant: org.Tenant,
		SigningBefore: org.SigningSecret, PreviousBefore: org.PreviousSecret, OlderBefore: org.OlderSecrets,
	}); err != nil {
		return err
	}
	return previousErr
}

// resealed returns a secret encrypted by the ring's first key. It returns the same bytes if that key encrypted it, and
// nil for nil.
func (s *Registry) resealed(owner string, sealed []byte) ([]byte, error) {
	if sealed == nil || s.keys.Current(sealed) {
		return sealed, nil
	}
	secret, err := s.keys.Open(owner, sealed)
	if err != nil {
		return nil, err
	}
	return s.keys.Seal(s.random, owner, secret)
}
