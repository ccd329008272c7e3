package observations

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Expectations evaluates the expectations of the resources of kind Expectation.
type Expectations struct{ core ledgerdb.Core }

// NewExpectations returns [Expectations] of a database.
func NewExpectations(db *postgres.DB, store *sandboxes.Registry) *Expectations {
	return &Expectations{ledgerdb.Core{DB: db, Sandboxes: store}}
}

// TenantsToEvaluate returns the sandboxes with expectations that are due, at most the number batch.
func (e *Expectations) TenantsToEvaluate(ctx context.Context, batch int) ([]queues.DueTenant, error) {
	rows, err := e.core.Unscoped().TenantsToEvaluate(ctx, int32(batch))
	if err != nil {
		return nil, postgres.Classify(err, "looking for expectations to evaluate")
	}
	due := make([]queues.DueTenant, len(rows))
	for i, row := range rows {
		due[i] = queues.DueTenant{Tenant: row.Tenant, SweepFailed: row.SweepFailed}
	}
	return due, nil
}

// FailExpectationsOfResets fails the open expectations whose sandbox was reset or deleted. It returns the number of
// these expectations.
func (e *Expectations) FailExpectationsOfResets(ctx context.Context) (failed int, err error) {
	n, err := e.core.Unscoped().FailExpectationsOfResets(ctx, expectations.ResetMessage)
	return int(n), postgres.Classify(err, "failing the expectations of sandboxes that were reset")
}

// EvaluateExpectation evaluates one expectation of a sandbox: of those that are due, the one whose last evaluation is
// the oldest. It returns the verdict, [expectations.Open] as long as it is not decided. It returns an empty verdict if
// no expectation is due, or if other workers evaluate all that are.
func (e *Expectations) EvaluateExpectation(ctx context.Context, tenant int64) (verdict expectations.Verdict, err error) {
	err = e.core.DB.InTx(ctx, postgres.IdleLimited, func(tx pgx.Tx) error {
		q := sqlc.New(tx)
		if err := q.EnterToObserve(ctx, tenant); err != nil {
			return err
		}
		row, err := q.LockExpectation(ctx, tenant)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		state, err := evaluate(ctx, tx, &row)
		verdict = state.Verdict
		return err
	})
	if err != nil {
		return "", postgres.Classify(err, "evaluating an expectation")
	}
	return verdict, nil
}

// evaluate evaluates an expectation, stores its new state and returns it.
func evaluate(ctx context.Context, tx pgx.Tx, row *sqlc.LockExpectationRow) (state expectations.State, err error) {
	lines, err := expectations.Parse(row.Lines)
	if err != nil {
		return state, err
	}
	former := expectations.State{
		Verdict: expectations.Verdict(row.Verdict), Reason: row.Reason, Message: row.Message, MetSince: row.MetSince,
	}
	if err := json.Unmarshal(row.Results, &former.Results); err != nil {
		return state, err
	}
	q := sqlc.New(tx)
	if row.SinceCreation && former.Reason == "" {
		if row.Since, err = q.NewestTransactionBefore(ctx, row.Tenant, row.Clocked, row.BeganAt); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return state, err
		}
	}
	terms := expectations.Terms{Deadline: row.Deadline, Settle: time.Duration(row.SettleMs) * time.Millisecond}
	at := terms.Moment(&former, row.Now)
	results, err := observeAlone(ctx, tx, row, lines, at)
	switch {
	case errors.Is(err, ErrTooManyRows):
		state = terms.Unreadable(&former, row.Now)
	case err != nil:
		return state, err
	default:
		state = terms.Judge(&former, results, at)
	}
	return state, writeJudgement(ctx, q, row, &former, &state, terms)
}

// observeAlone observes the sandbox as it was at the time at, or as it is if at is not in the past. It uses a
// savepoint, so that a statement that takes too long does not end the database transaction.
func observeAlone(
	ctx context.Context, tx pgx.Tx, row *sqlc.LockExpectationRow, lines []expectations.Line, at time.Time,
) (results []expectations.Result, err error) {
	var then *PastTime
	if at.Before(row.Now) {
		then = &PastTime{At: at, Clocked: row.Clocked, Changed: row.ActiveAt != nil && row.ActiveAt.After(at)}
	}
	err = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
		seen, err := observeLines(ctx, inner, row.Tenant, lines, ledgerdb.IDOrNone(row.Since), then)
		if err != nil {
			return classifyObservation(err)
		}
		for i := range lines {
			results = append(results, expectations.Check(payments.KnownEverywhere, &lines[i], &seen.Lines[i]))
		}
		return nil
	})
	return results, err
}

func writeJudgement(
	ctx context.Context, q *sqlc.Queries, row *sqlc.LockExpectationRow, former, state *expectations.State, terms expectations.Terms,
) error {
	results, err := json.Marshal(state.Results)
	if err != nil {
		return err
	}
	written := sqlc.JudgeExpectationParams{
		Tenant: row.Tenant, Uid: row.Uid, Verdict: string(state.Verdict), Reason: state.Reason, Message: state.Message, Results: results,
		MetSince: state.MetSince, Since: row.Since, Told: state.TellsMore(former),
	}
	if state.Verdict == expectations.Open {
		written.DueAt = new(terms.NextLook(former, state, row.Now))
	}
	return q.JudgeExpectation(ctx, written)
}
