package sandboxes

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// LedgerState is the result of the last verification of a sandbox's ledger.
type LedgerState struct {
	Verified   bool        // a verification has taken place
	Broken     int         // balances that do not follow from their movements
	Imbalances []Imbalance // the first few of them
}

// Imbalance locates a balance that does not follow from its movements.
type Imbalance struct {
	Currency   string // of a float; empty for a SIM
	TestClient string // name of the SIM's test client; empty for a float
	Amount     int64  // the balance minus the sum of its movements
	After      int64  // number of the last movement before the error
	Before     int64  // number of the first movement after it; 0: there is none
}

// shownImbalances is the most imbalances that a status shows.
const shownImbalances = 5

func (s *Registry) ledgerState(ctx context.Context, tenant int64) (state LedgerState, err error) {
	proof, err := s.unscoped().LedgerProof(ctx, tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	state.Verified, state.Broken = proof.VerifiedAt != nil, int(proof.Broken)
	if state.Broken == 0 {
		return state, nil
	}
	rows, err := s.unscoped().BrokenAccounts(ctx, tenant, shownImbalances)
	for _, row := range rows {
		found := Imbalance{Amount: row.Imbalance, After: row.BrokenAfter}
		if row.BrokenBefore != nil {
			found.Before = *row.BrokenBefore
		}
		if row.OfSim {
			found.TestClient = row.TestClient
		} else {
			found.Currency = row.Account
		}
		state.Imbalances = append(state.Imbalances, found)
	}
	return state, err
}
