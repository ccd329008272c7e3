package service

import (
	"context"
	"slices"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
)

// StatusFault returns the fault that applies when the operator reports the status of a completed transaction; nil for
// none. The fault applies to every status query of the transaction, and counts once. The result staysPending is true if
// the operator still reports the transaction as pending.
func (s *Service) StatusFault(
	ctx context.Context, who *Caller, t *payments.Transaction,
) (f *faults.Fault, staysPending bool, err error) {
	sandbox, set := who.Sandbox, s.faultsOf(who.Sandbox)
	ofOperator := func(f faults.Fault) bool { return f.Operator != nil }
	if !t.Status.Terminal() || !slices.ContainsFunc(set, ofOperator) {
		return nil, false, nil
	}
	now, names, err := s.ledger.RequestInFaults(ctx, sandbox.Tenant, set, t.Reference)
	if err != nil {
		return nil, false, err
	}
	p := targetOfTransaction(t, sandbox)
	p.Kind, p.Now, p.Ended = faults.AtStatus, now, *t.CompletedAt
	if f, err = s.firstThatApplies(ctx, sandbox.Tenant, set, &p, names); err != nil || f == nil {
		return nil, false, err
	}
	if !slices.Contains(t.Faults, f.Name) {
		if err := s.ledger.AddTransactionFault(ctx, sandbox.Tenant, t.ID, f.Name); err != nil {
			return nil, false, err
		}
	}
	s.metrics.FaultApplied(string(faults.OperatorKind))
	who.Faults.ToStatus = f
	return f, f.StaysPending(&p), nil
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
