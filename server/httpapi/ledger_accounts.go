package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/proof"
)

// verifyTimeout is how long a request waits for a worker to verify a ledger.
const verifyTimeout = 25 * time.Second

func (s *Server) listAccounts(_ http.ResponseWriter, r *http.Request) (answer, error) {
	tenant := sessionOf(r).sandbox.Tenant
	q := wire.LedgerQuery{Limit: wire.DefaultLimit}
	if _, wrong := wire.LedgerParameters.Read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return answer{}, wire.InvalidParams(wrong)
	}
	if q.Verify {
		if err := s.verifyLedger(r.Context(), tenant); err != nil {
			return answer{}, err
		}
	}
	found, balanced, err := s.books.ListAccounts(r.Context(), tenant, q.Account(), q.Limit+1)
	if err != nil {
		return answer{}, err
	}
	page := wire.LedgerAccountList{Balanced: balanced, Data: []wire.LedgerAccount{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.LedgerAccountOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(wire.LedgerCursors.After(tenant, wire.LedgerPlace(found[q.Limit-1].Account)))
	}
	return answer{status: http.StatusOK, body: page}, nil
}

// verifyLedger lets a worker verify the ledger of a sandbox from the first movement on.
func (s *Server) verifyLedger(ctx context.Context, tenant int64) error {
	soon, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	err := s.books.VerifyLedger(soon, tenant)
	if errors.Is(err, proof.ErrNotVerified) {
		return wire.NotVerified()
	}
	return err
}
