package worker

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger/queues"
)

const (
	// expectationPoll is the interval between queries for expectations to evaluate.
	expectationPoll = time.Second
	// expectationTurn is the time after which a sandbox gives way to the next one, after an evaluation. An evaluation may
	// take 2 s.
	expectationTurn = 50 * time.Millisecond
	// expectationsAtOnce is how many expectations a worker evaluates at a time.
	expectationsAtOnce = 2
	// expectationBatch bounds the sandboxes that one query returns.
	expectationBatch = 1000
)

// expectationDatabase has the methods of the database that the evaluation of expectations needs.
type expectationDatabase interface {
	TenantsToEvaluate(ctx context.Context, batch int) ([]queues.DueTenant, error)
	EvaluateExpectation(ctx context.Context, tenant int64) (verdict expectations.Verdict, err error)
	FailExpectationsOfResets(ctx context.Context) (int, error)
}

// judgeExpectations evaluates the expectations of the sandboxes where something happened, and those that are due by the
// time, until ctx ends.
func (w *Worker) judgeExpectations(ctx context.Context) {
	w.takeTurns(ctx, turns{
		name: "expectations", inUse: w.queues.expectations, every: expectationPoll, idle: listAtLeast,
		atOnce: expectationsAtOnce, quick: true, listDue: w.sandboxesToEvaluate, work: w.judgeSandbox,
	})
}

func (w *Worker) sandboxesToEvaluate(ctx context.Context) ([]queues.DueTenant, error) {
	failed, err := w.database.FailExpectationsOfResets(ctx)
	if err != nil {
		return nil, err
	}
	w.metrics.ExpectationDecided(string(expectations.Failed), failed)
	return w.database.TenantsToEvaluate(ctx, expectationBatch)
}

// judgeSandbox evaluates expectations of a sandbox, one after the other.
func (w *Worker) judgeSandbox(ctx context.Context, sandbox queues.DueTenant) (more bool, err error) {
	for began := w.now(); w.now().Sub(began) < expectationTurn; {
		verdict, err := w.database.EvaluateExpectation(ctx, sandbox.Tenant)
		switch {
		case err != nil || verdict == "":
			return false, err
		case verdict != expectations.Open:
			w.metrics.ExpectationDecided(string(verdict), 1)
		}
	}
	return true, nil
}
