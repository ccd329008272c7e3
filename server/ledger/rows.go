package ledger

import "github.com/jackc/pgx/v5/pgtype"

// rowKey identifies a row among those of all tenants.
type rowKey struct {
	tenant int64
	id     [16]byte
}

// rowKeys are the keys of several rows as the array arguments of a statement.
type rowKeys struct {
	tenants []int64
	ids     []pgtype.UUID
}

func (k *rowKeys) add(tenant int64, id pgtype.UUID) {
	k.tenants, k.ids = append(k.tenants, tenant), append(k.ids, id)
}

func (k *rowKeys) len() int { return len(k.ids) }
