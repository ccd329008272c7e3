package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// disturbCall lets faults act on a call that records no transaction, as [Server.disturbed] does: only a fault that asks for the path acts.
func (n *nativeSandbox) disturbCall(ctx context.Context) error {
	if !hasAnswerFaults(n.who.sandbox) {
		return nil
	}
	p := faults.Place{Where: faults.AtOperator, Operator: n.api.Operator, Reads: true}
	if r := n.who.out.request; r.Method != http.MethodGet {
		p.Request = r.Method + " " + pathWithin(nativePath(r.URL.Path))
	}
	return n.server.disturbAt(ctx, n.who, n.who.sandbox, &p)
}

// disturbOrder lets faults act on a call that records a transaction, of which p knows the rest.
func (n *nativeSandbox) disturbOrder(ctx context.Context, sandbox *sandboxes.Sandbox, o *operatorapi.Order, p faults.Place) error {
	if !hasAnswerFaults(sandbox) {
		return nil
	}
	p.Where, p.Operator, p.Reference, p.MSISDN = faults.AtOperator, n.api.Operator, o.Reference, o.MSISDN
	return n.server.disturbAt(ctx, n.who, sandbox, &p)
}

// disturbTold lets a fault act on what the operator tells of a transaction that has its outcome. It acts once for the transaction, and goes
// on as often as that is asked for.
func (n *nativeSandbox) disturbTold(ctx context.Context, told *operatorapi.Payment) error {
	s, sandbox, t := n.server, n.who.sandbox, told.Transaction
	if !t.Status.Terminal() || !slices.ContainsFunc(sandbox.Faults, func(f faults.Fault) bool { return f.Operator != nil }) {
		return nil
	}
	now, acted, err := s.ledger.RequestInFaults(ctx, sandbox.Tenant, sandbox.Faults, t.Reference)
	if err != nil {
		return err
	}
	p := placeOf(t, sandbox)
	p.Where, p.Now, p.Ended = faults.AtStatus, now, *t.CompletedAt
	fits := sandbox.Faults.At(&p)
	if len(fits) == 0 {
		return nil
	}
	f := fits[0]
	if !slices.Contains(acted, f.Name) {
		if f, err = s.ledger.ActFault(ctx, sandbox.Tenant, &p, fits); err != nil || f == nil {
			return err
		}
	}
	if !slices.Contains(t.Faults, f.Name) {
		if err := s.ledger.AddTransactionFault(ctx, sandbox.Tenant, t.ID, f.Name); err != nil {
			return err
		}
	}
	s.metrics.Disturbed(string(faults.OperatorKind))
	n.who.out.disturbance.told = f
	told.Reason = f.Operator.Reason
	if f.StaysPending(&p) {
		pending := *t
		pending.Status, pending.CompletedAt = payments.Pending, nil
		told.Transaction = &pending
	}
	return nil
}

// placeOf is what is known at every place of a transaction.
func placeOf(t *payments.Transaction, sandbox *sandboxes.Sandbox) faults.Place {
	return faults.Place{
		Type: t.Type, Status: t.Status, Operator: t.Operator, Country: t.Country, Store: t.Store, MSISDN: t.MSISDN, Reference: t.Reference,
		Draws: faults.DrawsOf(sandbox.Seed, sandbox.Tenant),
	}
}
