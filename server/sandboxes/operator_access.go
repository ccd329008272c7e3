package sandboxes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// accessKey identifies the access of a store to an operator's own API. A store is a shop of the merchant.
type accessKey struct{ store, operator, country string }

// The method operators makes the rows of operator_credentials equal to the credentials in the SandboxEnvironment.
func (c *sandboxChange) operators(ctx context.Context) error {
	rows, err := c.q.ListOperatorCredentials(ctx, c.tenant)
	if err != nil {
		return err
	}
	present := map[accessKey]sqlc.OperatorCredential{}
	for _, row := range rows {
		present[accessKey{row.Store, row.Operator, row.Country}] = row
	}
	for _, want := range c.want.Operators {
		at := accessKey{want.Store, string(want.Operator), string(want.Country)}
		row, exists := present[at]
		delete(present, at)
		if exists && c.sameAccess(row, want) {
			continue
		}
		c.changed = true
		if err := c.setAccess(ctx, want); err != nil {
			return err
		}
	}
	for at := range present {
		c.changed = true
		if err := c.q.DeleteOperatorCredentials(ctx, c.tenant, at.store, at.operator, at.country); err != nil {
			return err
		}
	}
	return nil
}

func (c *sandboxChange) setAccess(ctx context.Context, a OperatorAccess) error {
	row := sqlc.SetOperatorCredentialsParams{
		Tenant: c.tenant, Store: a.Store, Operator: string(a.Operator), Country: string(a.Country), BaseURL: a.BaseURL,
	}
	if a.Credentials != nil {
		var err error
		if row.Sealed, err = c.store.sealAccess(c.want.UID, *a.Credentials); err != nil {
			return err
		}
	}
	return c.q.SetOperatorCredentials(ctx, row)
}

// sameAccess reports whether a row equals the resource's access. It is false also for credentials that cannot be
// decrypted or that an older key encrypted, so that they are encrypted again.
func (c *sandboxChange) sameAccess(row sqlc.OperatorCredential, a OperatorAccess) bool {
	if row.BaseURL != a.BaseURL || (row.Sealed == nil) != (a.Credentials == nil) {
		return false
	}
	if a.Credentials == nil {
		return true
	}
	present, err := c.store.OpenCredentials(c.want.UID, row.Sealed)
	return err == nil && present == *a.Credentials && c.store.keys.Current(row.Sealed)
}

func (s *Registry) sealAccess(sandboxUID string, c OperatorCredentials) ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return s.keys.Seal(s.random, sandboxUID, string(text))
}

// OpenCredentials decrypts the stored credentials of an operator. It returns [secrets.ErrSealed] if it cannot.
func (s *Registry) OpenCredentials(sandboxUID string, sealed []byte) (c OperatorCredentials, err error) {
	text, err := s.keys.Open(sandboxUID, sealed)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("reading stored credentials: %w", err)
	}
	return c, nil
}
