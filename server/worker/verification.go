package worker

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/proof"
)

const (
	// verificationPoll is the shortest interval between queries for ledgers to verify. It is short, because a client
	// that requests a verification waits for it. Without a request the interval is up to verificationIdle.
	verificationPoll = 2 * time.Second
	verificationIdle = 3 * time.Second
	// verificationsAtOnce is how many sandboxes a worker verifies at a time. Half of them may be slow ones: a pass over a
	// large ledger takes minutes.
	verificationsAtOnce = 4
	// verificationBatch bounds the sandboxes that one query returns.
	verificationBatch = 1000
)

// verificationDatabase has the methods of the database that the verification needs.
type verificationDatabase interface {
	TenantsToVerify(ctx context.Context, batch int) ([]queues.DueTenant, error)
	Verify(ctx context.Context, tenant int64) (*proof.VerifiedLedger, error)
}

// verify verifies the new movements of the sandboxes with activity, and the whole ledger of each sandbox once a day,
// until ctx ends.
func (w *Worker) verify(ctx context.Context) {
	w.takeTurns(ctx, turns{
		name: "verification", inUse: w.queues.passes, every: verificationPoll, idle: verificationIdle,
		atOnce: verificationsAtOnce, work: w.verifyOne,
		listDue: func(ctx context.Context) ([]queues.DueTenant, error) {
			return w.database.TenantsToVerify(ctx, verificationBatch)
		},
	})
}

// verifyOne verifies the ledger of a sandbox.
func (w *Worker) verifyOne(ctx context.Context, sandbox queues.DueTenant) (more bool, err error) {
	verified, err := w.database.Verify(ctx, sandbox.Tenant)
	switch {
	case err != nil || verified == nil || !verified.Changed:
	case len(verified.Broken) > 0:
		w.log.ErrorContext(ctx, "balances do not follow from their movements", "tenant", sandbox.Tenant, "found", verified.Broken)
	default:
		w.log.InfoContext(ctx, "every balance follows from its movements", "tenant", sandbox.Tenant)
	}
	return false, err
}
