package nativestore

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Setting is a value that a sandbox keeps for an operator's own API, for example the URLs that a merchant registered.
type Setting struct {
	Operator payments.Operator
	Name     string
	MadeWith sandboxes.KeyHash // the API key; the setting is valid as long as the key
	Value    json.RawMessage   // in the format of the operator's package
}

// MaxSettings is how many settings a sandbox keeps of one operator.
const MaxSettings = 100

// KeepNativeSetting stores a setting, in place of the one with its name. Beyond [MaxSettings], it deletes the settings
// that were stored first.
func (s *Store) KeepNativeSetting(ctx context.Context, tenant int64, k *Setting) error {
	err := s.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		if err := q.LockNativeSettings(ctx, tenant); err != nil {
			return err
		}
		return q.KeepNativeSetting(ctx, sqlc.KeepNativeSettingParams{
			Tenant: tenant, Operator: string(k.Operator), Name: k.Name, MadeWith: k.MadeWith[:], Value: k.Value, Others: MaxSettings - 1,
		})
	})
	return postgres.ClassifyWrite(err, "keeping the setting")
}

// FindNativeSetting returns the setting with a name, or ledger.ErrNotFound.
func (s *Store) FindNativeSetting(ctx context.Context, tenant int64, operator payments.Operator, name string) (*Setting, error) {
	row, err := s.core.Tenant(tenant).FindNativeSetting(ctx, tenant, string(operator), name)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ledgerdb.ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "looking up the setting")
	}
	return &Setting{Operator: operator, Name: name, MadeWith: sandboxes.KeyHash(row.MadeWith), Value: row.Value}, nil
}
