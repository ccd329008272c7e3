package service

import (
	"context"
	"fmt"
	"slices"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
)

// WrongAnswers says whether a wrong answer is drawn for a status call: if the operator tells the transaction as pending,
// and if it tells the outcome.
type WrongAnswers struct{ Pending, Ended bool }

// StatusFault is the fault that applies when the operator reports the status of a transaction.
type StatusFault struct {
	*faults.Fault
	StaysPending bool // whether the operator still reports the transaction as pending
	Flickers     bool // whether the operator gives the drawn wrong answer
}

// StatusFault returns the fault that applies when the operator reports the status of a transaction; nil for none. The
// fault applies to every status query of the transaction, and counts once. A fault that only flickers applies to the
// queries with a wrong answer.
func (s *Service) StatusFault(
	ctx context.Context, who *Caller, t *payments.Transaction, wrong WrongAnswers,
) (*StatusFault, error) {
	sandbox, set := who.Sandbox, s.faultsOf(who.Sandbox)
	applies := func(f faults.Fault) bool {
		return f.Operator != nil && (t.Status.Terminal() || f.Operator.StatusFlickers)
	}
	if !slices.ContainsFunc(set, applies) {
		return nil, nil
	}
	now, names, err := s.ledger.RequestInFaults(ctx, sandbox.Tenant, set, t.Reference)
	if err != nil {
		return nil, err
	}
	p := targetOfTransaction(t, sandbox)
	p.Kind, p.Now, p.WrongPending, p.WrongEnded = faults.AtStatus, now, wrong.Pending, wrong.Ended
	if t.CompletedAt != nil {
		p.Ended = *t.CompletedAt
	}
	f, err := s.firstThatApplies(ctx, sandbox.Tenant, set, &p, names)
	if err != nil || f == nil {
		return nil, err
	}
	if !slices.Contains(t.Faults, f.Name) {
		if err := s.ledger.AddTransactionFault(ctx, sandbox.Tenant, t.ID, f.Name); err != nil {
			return nil, err
		}
	}
	s.metrics.FaultApplied(string(faults.OperatorKind))
	who.Faults.ToStatus = f
	return &StatusFault{f, f.StaysPending(&p), f.Flickers(&p)}, nil
}

// DrawStatus returns a function that draws one of n answers to a status call of a transaction. It returns its index, which
// is the same for the same seed, reference and number of earlier status calls of the transaction, which DrawStatus
// counts. draw is nil if no fault of the sandbox makes the status flicker.
func (s *Service) DrawStatus(ctx context.Context, who *Caller, t *payments.Transaction) (draw func(n int) int, err error) {
	sandbox := who.Sandbox
	flickers := func(f faults.Fault) bool { return f.Operator != nil && f.Operator.StatusFlickers }
	if !slices.ContainsFunc(s.faultsOf(sandbox), flickers) {
		return nil, nil
	}
	// No merchant has a reference like this one.
	query, err := s.ledger.CountFaultRequest(ctx, sandbox.Tenant, "status of "+t.ID.String())
	return func(n int) int {
		return int(faults.DrawsOf(sandbox.Seed, sandbox.Tenant).Below("status", fmt.Sprint(t.Reference, " ", query), int64(n)))
	}, err
}

// firstThatApplies returns the first fault that matches a target; nil for none. A fault that already applied to the
// same reference applies again without being counted again.
func (s *Service) firstThatApplies(
	ctx context.Context, tenant int64, set faults.Set, p *faults.Target, applied []string,
) (*faults.Fault, error) {
	fits := set.Matching(p)
	if len(fits) > 0 && slices.Contains(applied, fits[0].Name) {
		return fits[0], nil
	}
	return s.ledger.ActFault(ctx, tenant, p, fits)
}
