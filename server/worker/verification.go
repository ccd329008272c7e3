package worker

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/proof"
)

const (
	// verificationPoll is the shortest interval between queries for ledgers to verify. It is short, because a client
	// that requests a verification waits for it. Without a request the interval is longer by verificationWait.
	verificationPoll = 2 * time.Second
	verificationWait = 3 * time.Second
	// verificationBatch is how many sandboxes a worker verifies after one query.
	verificationBatch = 10
)

// verificationDatabase has the methods of the database that the verification needs.
type verificationDatabase interface {
	TenantsToVerify(ctx context.Context, batch int) ([]ledger.DueTenant, error)
	Verify(ctx context.Context, tenant int64) (*proof.VerifiedLedger, error)
}

// verify verifies the new movements of the sandboxes with activity, and the whole ledger of each sandbox once a day. It
// verifies one sandbox after the other, over one connection.
func (w *Worker) verify(ctx context.Context) (more bool, err error) {
	var due []ledger.DueTenant
	err = within(ctx, settleTimeout, func(ctx context.Context) (err error) {
		due, err = w.database.TenantsToVerify(ctx, verificationBatch)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, tenant := range due {
		if err := w.verifyOne(ctx, tenant); err != nil {
			return false, err
		}
	}
	if len(due) < verificationBatch {
		sleep(ctx, verificationPoll)
		select {
		case <-ctx.Done():
		case <-w.queues.passes:
		case <-time.After(verificationWait):
		}
	}
	return true, nil
}

// verifyOne verifies the ledger of a sandbox. If only this sandbox fails, workers skip it for a while.
func (w *Worker) verifyOne(ctx context.Context, tenant ledger.DueTenant) error {
	var verified *proof.VerifiedLedger
	err := w.contained(ctx, func() (err error) {
		verified, err = w.database.Verify(ctx, tenant.Tenant)
		return err
	})
	switch {
	case err != nil && (errors.Is(err, postgres.ErrUnavailable) || ctx.Err() != nil):
		return err
	case err != nil:
		w.skipSandbox(ctx, "verification", tenant, err)
		return nil
	}
	w.resumeSandboxes(ctx, "verification", []ledger.DueTenant{tenant})
	switch {
	case verified == nil || !verified.Changed:
	case len(verified.Broken) > 0:
		w.log.ErrorContext(ctx, "balances do not follow from their movements", "tenant", tenant.Tenant, "found", verified.Broken)
	default:
		w.log.InfoContext(ctx, "every balance follows from its movements", "tenant", tenant.Tenant)
	}
	return nil
}
