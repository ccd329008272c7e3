package service

import (
	"cmp"
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/proof"
)

// verifyTimeout is how long a request waits for a worker to verify a ledger.
const verifyTimeout = 25 * time.Second

// VerifyLedger requests a verification of the sandbox's ledger from the first movement, and waits until a worker has
// done it. If the sandbox is reset, VerifyLedger begins again. It returns [proof.ErrNotVerified] if no worker has
// verified the ledger after 25 seconds, or when ctx ends.
func (s *Service) VerifyLedger(ctx context.Context, who *Caller) error {
	until := s.now().Add(verifyTimeout)
	return s.Renewing(context.WithoutCancel(ctx), who, func(context.Context) error {
		bounded, cancel := untilRecorded(ctx)
		defer cancel()
		asked, err := s.books.AskForPass(bounded, who.Sandbox.Tenant)
		if err != nil {
			return err
		}
		failed := proof.ErrNotVerified
		if s.poll(ctx, who.Sandbox, until.Sub(s.now()), func(ctx context.Context) (bool, error) {
			passed, err := s.books.PassedSince(ctx, who.Sandbox.Tenant, asked)
			failed = cmp.Or(err, proof.ErrNotVerified)
			return passed, err
		}) {
			return nil
		}
		return failed
	})
}
