package ledgerdb

import "github.com/jackc/pgx/v5/pgtype"

// Key identifies a row among those of all tenants.
type Key struct {
	Tenant int64
	ID     [16]byte
}

// KeyOf returns the key of a row.
func KeyOf(tenant int64, id [16]byte) Key { return Key{tenant, id} }

// Keys are the keys of several rows as the array arguments of a statement.
type Keys struct {
	Tenants []int64
	IDs     []pgtype.UUID
}

// Add adds the key of a row.
func (k *Keys) Add(tenant int64, id pgtype.UUID) {
	k.Tenants, k.IDs = append(k.Tenants, tenant), append(k.IDs, id)
}

// Len returns how many keys there are.
func (k *Keys) Len() int { return len(k.IDs) }
