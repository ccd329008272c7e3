package service

import (
	"context"
	"time"
)

// verifyTimeout is how long a request waits for a worker to verify a ledger.
const verifyTimeout = 25 * time.Second

// VerifyLedger has a worker verify the ledger of the sandbox from the first movement on. It returns
// [proof.ErrNotVerified] if no worker has done so within [verifyTimeout].
func (s *Service) VerifyLedger(ctx context.Context, who *Caller) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	return s.books.VerifyLedger(ctx, who.Sandbox.Tenant)
}
