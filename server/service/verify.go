package service

import (
	"context"
	"time"
)

// verifyTimeout is how long a request waits for a worker to verify a ledger.
const verifyTimeout = 25 * time.Second

// VerifyLedger requests a verification of the sandbox's ledger from the first movement, and waits until a worker has
// done it. It returns [proof.ErrNotVerified] if this takes longer than 25 seconds.
func (s *Service) VerifyLedger(ctx context.Context, who *Caller) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	return s.books.VerifyLedger(ctx, who.Sandbox.Tenant)
}
