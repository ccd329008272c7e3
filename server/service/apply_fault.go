package service

import (
	"context"
	"errors"
	"slices"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// This file decides which fault applies to a request. It ends the request with [ErrFault] if the fault says so. The
// file httpfront/answer_fault.go applies the fault to the answer.
//
// Faults of the API and of an operator's answers apply to requests with a valid body. They apply before anything is
// recorded and before the search for an earlier request with the same reference. They change the answer, never the
// recorded transaction.

// ApplyFault decides which fault applies to a request that records no transaction. It returns [ErrFault] if the fault
// ends the request. On an operator's own API, only faults that name the path of the request apply.
func (s *Service) ApplyFault(ctx context.Context, who *Caller) error {
	f := &who.Faults
	return s.applyFault(ctx, who, &faults.Target{
		Operator: f.Operator, Request: f.Repeats, Reads: f.ReadOnly || f.At == faults.AtOperator,
	})
}

// requestOf describes a request that records a transaction, so that faults can be matched with it.
type requestOf func(context.Context, *sandboxes.Sandbox, *recording) (*faults.Target, error)

// applyFaultTo decides which fault applies to a request that records a transaction. It returns [ErrFault] if the fault
// ends the request.
func (s *Service) applyFaultTo(ctx context.Context, who *Caller, r *recording, describe requestOf) error {
	if !who.Faults.canApply(who.Sandbox, s.faultsOf(who.Sandbox)) {
		return nil
	}
	request, err := describe(ctx, who.Sandbox, r)
	if err != nil {
		return err
	}
	return s.applyFault(ctx, who, request)
}

// applyFault decides which fault applies to a request. It returns [ErrFault] if the fault ends the request.
func (s *Service) applyFault(ctx context.Context, who *Caller, p *faults.Target) (err error) {
	d, sandbox, set := &who.Faults, who.Sandbox, s.faultsOf(who.Sandbox)
	if !d.canApply(sandbox, set) {
		return nil
	}
	p.Kind, p.Path, p.Draws = d.At, d.Path, faults.DrawsOf(sandbox.Seed, sandbox.Tenant)
	if p.Now, d.names, err = s.ledger.RequestInFaults(ctx, sandbox.Tenant, set, p.Key()); err != nil {
		return err
	}
	if p.Attempt, err = s.countRequest(ctx, d, sandbox, set, p.Reference); err != nil {
		return err
	}
	applied, err := s.ledger.ActFault(ctx, sandbox.Tenant, p, set.Matching(p))
	if err != nil {
		return err
	}
	d.version = sandbox.ConfigVersion
	if applied == nil {
		return nil
	}
	return s.decided(d, applied)
}

// decided stores the fault that applies to a request in d. It returns [ErrFault] if the fault ends the request.
func (s *Service) decided(d *RequestFaults, f *faults.Fault) error {
	d.ToAnswer = f
	if !slices.Contains(d.names, f.Name) {
		d.names = append(d.names, f.Name)
	}
	s.metrics.FaultApplied(string(f.Kind()))
	if f.Refuses() {
		return ErrFault{f}
	}
	return nil
}

// countRequest counts the request, and returns the number of requests with this reference. If no fault depends on that
// number, it counts nothing and returns d.count.
func (s *Service) countRequest(
	ctx context.Context, d *RequestFaults, sandbox *sandboxes.Sandbox, set faults.Set, reference string,
) (int, error) {
	asks := func(f faults.Fault) bool { return f.Answer() != nil && f.When.Attempt != 0 }
	asked := slices.ContainsFunc(set, asks)
	if !asked || reference == "" || d.count > 0 && d.tenant == sandbox.Tenant {
		return d.count, nil
	}
	count, err := s.ledger.CountFaultRequest(ctx, sandbox.Tenant, reference)
	if err == nil {
		d.tenant, d.count = sandbox.Tenant, count
	}
	return count, err
}

func (s *Service) requestOfCollection(
	ctx context.Context, sandbox *sandboxes.Sandbox, r *recording,
) (*faults.Target, error) {
	market, _, err := s.marketOf(ctx, sandbox, &r.Order.Order, false)
	if err != nil && !errors.As(err, new(ErrUndetected)) { // decideCollection reports a wrong market
		return nil, err
	}
	return targetOfOrder(sandbox, r, market), nil
}

func requestOfDisbursement(_ context.Context, sandbox *sandboxes.Sandbox, r *recording) (*faults.Target, error) {
	return targetOfOrder(sandbox, r, sandboxes.Market{Operator: r.Operator, Country: r.Country}), nil
}

func (s *Service) requestOfRefund(
	ctx context.Context, sandbox *sandboxes.Sandbox, r *recording,
) (*faults.Target, error) {
	p := &faults.Target{Type: payments.Refund, Reference: r.Reference, Request: "refund of " + r.Parent.String()}
	parent, err := s.ledger.GetTransaction(ctx, sandbox.Tenant, r.Parent)
	switch {
	case err == nil:
		p.Operator, p.Country, p.Store, p.MSISDN = parent.Operator, parent.Country, parent.Store, parent.MSISDN
	case !errors.Is(err, ledger.ErrNotFound):
		return nil, err
	}
	return p, nil
}
