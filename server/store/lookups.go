package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/internal/db"
)

// lookup is a transaction that is asked for and, once it is found, the transaction.
type lookup struct {
	version int64 // of the configuration that the caller knows
	id      pgtype.UUID
	found   *payments.Transaction
}

// GetTransaction returns [ErrNotFound] for an id that the tenant does not have.
func (s *Store) GetTransaction(ctx context.Context, tenant int64, id payments.ID) (*payments.Transaction, error) {
	row, err := s.tenant(tenant).GetTransaction(ctx, tenant, uuidOf(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, classify(err, "reading the transaction")
	}
	return transactionOf(&row), nil
}

// GetTransactionOf is [Store.GetTransaction] of a sandbox as the caller knows it. If that is the present configuration, as it nearly
// always is, nothing else has to be looked up. What is asked for while another look-up of the sandbox is under way is looked up
// together: who waits for payments to end asks for many of them, again and again.
func (s *Store) GetTransactionOf(ctx context.Context, sandbox *Sandbox, id payments.ID) (*payments.Transaction, error) {
	l := &lookup{version: sandbox.ConfigVersion, id: uuidOf(id)}
	err := s.lookups.book(ctx, floatKey{tenant: sandbox.Tenant}, l)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.GetTransaction(ctx, sandbox.Tenant, id)
	}
	if err != nil {
		return nil, classify(err, "reading the transaction")
	}
	return l.found, nil
}

// lookUp finds one transaction.
func (s *Store) lookUp(ctx context.Context, at floatKey, l *lookup, hasTurn bool) error {
	row, err := s.gated(at.tenant, hasTurn).GetTransactionGated(ctx, l.version, at.tenant, l.id)
	if err != nil {
		return err
	}
	l.found = transactionOf(&row)
	return nil
}

// lookUpAll finds several transactions of a sandbox in one statement, those of callers who know the same configuration as the
// first, and tells which of them it found.
func (s *Store) lookUpAll(ctx context.Context, at floatKey, all []*lookup) ([]bool, error) {
	version := all[0].version
	ids := make([]pgtype.UUID, 0, len(all))
	for _, l := range all {
		ids = append(ids, l.id)
	}
	rows, err := s.gated(at.tenant, true).GetTransactionsGated(ctx, version, at.tenant, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[pgtype.UUID]*db.Transaction, len(rows))
	for i := range rows {
		byID[rows[i].ID] = &rows[i]
	}
	found := make([]bool, len(all))
	for i, l := range all {
		if row := byID[l.id]; row != nil && l.version == version {
			l.found, found[i] = transactionOf(row), true // one of its own for each, also of those who ask for the same
		}
	}
	return found, nil
}
