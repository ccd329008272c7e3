package service

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// findReplay returns the recorded transaction if a refused request repeats an earlier one. The current configuration
// has no influence on this. It returns [ErrDuplicateReference] if a different request has used the reference. If no
// request has used it, findReplay returns the parameter refusal.
func (s *Service) findReplay(ctx context.Context, tenant int64, r *recording, refusal error) (Recorded, error) {
	taken, err := s.takenReference(ctx, tenant, r, refusal)
	if err != nil {
		return Recorded{}, err
	}
	if r.generated { // another request has the generated reference: the next try generates a new one
		r.Reference = ""
		return Recorded{}, postgres.ErrConfigChanged
	}
	if taken.Transaction.Type != r.kind || !bytes.Equal(taken.RequestHash, r.fingerprint) {
		return Recorded{}, ErrDuplicateReference{taken}
	}
	return Recorded{Transaction: taken.Transaction, Replayed: true}, nil
}

// takenReference returns the transaction with the reference of a refused request. If there is none, or if the ledger
// has already looked for it, takenReference returns the parameter refusal.
func (s *Service) takenReference(
	ctx context.Context, tenant int64, r *recording, refusal error,
) (*ledger.ErrReferenceTaken, error) {
	var taken *ledger.ErrReferenceTaken
	switch {
	case errors.As(refusal, &taken):
		return taken, nil
	case !refusalOf(refusal).Replay || r.Reference == "" || r.generated:
		return nil, refusal // the ledger has checked the reference, or the client sent none
	}
	transaction, fingerprint, err := s.ledger.FindReference(ctx, tenant, r.Reference)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, refusal
	}
	if err != nil {
		return nil, err
	}
	return &ledger.ErrReferenceTaken{Transaction: transaction, RequestHash: fingerprint}, nil
}

// noteFaultOfReplay adds the fault that applies to a repeated request to the faults of its transaction.
func (s *Service) noteFaultOfReplay(ctx context.Context, who *Caller, t *payments.Transaction) error {
	f := who.Faults.ToAnswer
	if f == nil || slices.Contains(t.Faults, f.Name) {
		return nil
	}
	t.Faults = append(t.Faults, f.Name)
	return s.ledger.AddTransactionFault(ctx, who.Sandbox.Tenant, t.ID, f.Name)
}
