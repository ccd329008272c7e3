package worker

import (
	"context"
	"errors"
	"time"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// expectationPoll is the interval between queries for expectations to evaluate.
	expectationPoll = time.Second
	// expectationBatch is in how many sandboxes a worker evaluates expectations after one query.
	expectationBatch = 50
)

// expectationDatabase has the methods of the database that the evaluation of expectations needs.
type expectationDatabase interface {
	TenantsToEvaluate(ctx context.Context, batch int) ([]ledger.DueTenant, error)
	EvaluateExpectations(ctx context.Context, tenant int64) (decided []expectations.Verdict, more bool, err error)
	FailExpectationsOfResets(ctx context.Context) (int, error)
}

// judgeExpectations evaluates the expectations of the sandboxes where something happened, and those that are due by the
// time. It works on one sandbox after the other, and takes no more than one connection.
func (w *Worker) judgeExpectations(ctx context.Context) (more bool, err error) {
	select {
	case <-ctx.Done():
		return false, nil
	case <-w.queues.expectations:
	}
	var due []ledger.DueTenant
	err = within(ctx, settleTimeout, func(ctx context.Context) (err error) {
		failed, err := w.database.FailExpectationsOfResets(ctx)
		if err != nil {
			return err
		}
		w.metrics.ExpectationDecided(string(expectations.Failed), failed)
		due, err = w.database.TenantsToEvaluate(ctx, expectationBatch)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, tenant := range due {
		if err := w.judgeSandbox(ctx, tenant); err != nil {
			return false, err
		}
	}
	if len(due) < expectationBatch {
		sleep(ctx, expectationPoll)
	}
	return true, nil
}

// judgeSandbox evaluates expectations of a sandbox. If only this sandbox fails, workers skip it for a while.
func (w *Worker) judgeSandbox(ctx context.Context, tenant ledger.DueTenant) error {
	for more := true; more; {
		var decided []expectations.Verdict
		err := w.contained(ctx, func() (err error) {
			decided, more, err = w.database.EvaluateExpectations(ctx, tenant.Tenant)
			return err
		})
		switch {
		case err != nil && (errors.Is(err, postgres.ErrUnavailable) || ctx.Err() != nil):
			return err
		case err != nil:
			w.skipSandbox(ctx, "expectations", tenant, err)
			return nil
		}
		for _, verdict := range decided {
			w.metrics.ExpectationDecided(string(verdict), 1)
		}
	}
	w.resumeSandboxes(ctx, "expectations", []ledger.DueTenant{tenant})
	return nil
}
