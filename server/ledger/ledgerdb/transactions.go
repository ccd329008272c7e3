package ledgerdb

import (
	"context"
	"crypto/sha256"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// IsNative reports whether an operator's own API recorded a transaction, see ledger.NativeRequest.
func IsNative(row *sqlc.Transaction) bool { return NativeCall(row.RequestHash) != "" }

// NativeCall returns [payments.Transaction].NativeCall of a transaction with this request hash.
func NativeCall(requestHash []byte) string {
	if len(requestHash) == sha256.Size {
		return ""
	}
	return string(requestHash)
}

// AddSent sets NativeSent of the transactions that the operators' own APIs recorded. If there are none, it runs no
// statement.
func AddSent(ctx context.Context, q *sqlc.Queries, tenant int64, transactions ...*payments.Transaction) error {
	native := map[payments.ID]*payments.Transaction{}
	var ids []pgtype.UUID
	for _, t := range transactions {
		if t.NativeCall != "" {
			native[t.ID], ids = t, append(ids, postgres.UUID(t.ID))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := q.ListSent(ctx, tenant, ids)
	for _, row := range rows {
		native[row.ID.Bytes].NativeSent = row.Sent
	}
	return postgres.Classify(err, "reading what was sent")
}

// SIMOf returns the SIM in a row.
func SIMOf(row *sqlc.Sim) *payments.SIM {
	return &payments.SIM{
		ID: row.SimID.Bytes, MSISDN: row.MSISDN, Operator: payments.Operator(row.Operator),
		Country: payments.Country(row.Country), Blocked: row.Blocked, Behavior: payments.Behavior(row.Behavior),
		Balance: row.Balance,
	}
}

// OrEmpty returns the text, or "" for nil.
func OrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// IDOrNone returns the id, or nil for a null.
func IDOrNone(id pgtype.UUID) *payments.ID {
	if !id.Valid {
		return nil
	}
	of := payments.ID(id.Bytes) // a copy, so that a null takes no memory
	return &of
}
