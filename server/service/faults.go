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

// Faults of the api, and of an operator's answers, apply to a request whose body is valid, before anything is recorded and before it is
// found that an earlier request recorded it. They change what is answered, and never what is recorded.

// RequestFaults are the faults that apply to one request. They are decided once, and kept while the request is tried again: unless no fault
// applies, and the configuration changes before the request is recorded.
type RequestFaults struct {
	// What the front says of the request.

	At       faults.Where      // [faults.AtRequest] or [faults.AtOperator]
	Operator payments.Operator // whose own API it is made to; empty for another
	Path     string            // within the sandbox
	ReadOnly bool              // it changes nothing
	// What the request has in common with its repetitions, if it has no reference; empty: each is another request.
	Repeats string

	// What was decided.

	ToAnswer *faults.Fault // applies to the answer; nil for none
	ToStatus *faults.Fault // applies to what an operator says of a transaction; nil for none
	names    []string      // of those that applied to requests with its reference, with this one
	tenant   int64         // in which they were counted
	version  int64         // of the configuration by which it was decided
	count    int           // requests with its reference in the tenant; 0: they were not counted
}

// ApplyFault decides which fault applies to a request that records no transaction. It returns [ErrFault] if the request ends by it. Of an
// operator's calls only those are meant whose path a fault names.
func (s *Service) ApplyFault(ctx context.Context, who *Caller) error {
	f := &who.Faults
	return s.applyFault(ctx, who, &faults.Place{
		Operator: f.Operator, Request: f.Repeats, Reads: f.ReadOnly || f.At == faults.AtOperator,
	})
}

// requestOf describes a request that records a transaction, as faults see it.
type requestOf func(context.Context, *sandboxes.Sandbox, *intent) (*faults.Place, error)

// afterFault is try after a fault that applies to the request.
func (s *Service) afterFault(describe requestOf, try attempt) attempt {
	return func(ctx context.Context, who *Caller, asked *intent) (Recorded, error) {
		if who.Faults.canApply(who.Sandbox) {
			request, err := describe(ctx, who.Sandbox, asked)
			if err == nil {
				err = s.applyFault(ctx, who, request)
			}
			if err != nil {
				return Recorded{}, err
			}
		}
		return try(ctx, who, asked)
	}
}

// canApply reports whether a fault of a sandbox can still apply to the request.
func (d *RequestFaults) canApply(sandbox *sandboxes.Sandbox) bool {
	return d.ToAnswer == nil && d.version != sandbox.ConfigVersion &&
		slices.ContainsFunc(sandbox.Faults, func(f faults.Fault) bool { return f.Answer() != nil })
}

// applyFault decides which fault applies to a request. It returns [ErrFault] if the request ends by it.
func (s *Service) applyFault(ctx context.Context, who *Caller, p *faults.Place) (err error) {
	d, sandbox := &who.Faults, who.Sandbox
	if !d.canApply(sandbox) {
		return nil
	}
	p.Where, p.Path, p.Draws = d.At, d.Path, faults.DrawsOf(sandbox.Seed, sandbox.Tenant)
	if p.Now, d.names, err = s.ledger.RequestInFaults(ctx, sandbox.Tenant, sandbox.Faults, p.Key()); err != nil {
		return err
	}
	if p.Attempt, err = s.countRequest(ctx, d, sandbox, p.Reference); err != nil {
		return err
	}
	applied, err := s.ledger.ActFault(ctx, sandbox.Tenant, p, sandbox.Faults.At(p))
	if err != nil {
		return err
	}
	d.version = sandbox.ConfigVersion
	if applied == nil {
		return nil
	}
	return s.decided(d, applied)
}

// decided notes the fault that applies to a request. It returns [ErrFault] if the request ends by it.
func (s *Service) decided(d *RequestFaults, f *faults.Fault) error {
	d.ToAnswer = f
	if !slices.Contains(d.names, f.Name) {
		d.names = append(d.names, f.Name)
	}
	s.metrics.FaultApplied(string(f.Kind()))
	if a := f.Answer(); a.Status != 0 || a.DropConnection == faults.BeforeCommit {
		return ErrFault{f}
	}
	return nil
}

// countRequest counts the requests with a reference, if a fault asks for it.
func (s *Service) countRequest(ctx context.Context, d *RequestFaults, sandbox *sandboxes.Sandbox, reference string) (int, error) {
	asked := slices.ContainsFunc(sandbox.Faults, func(f faults.Fault) bool { return f.Answer() != nil && f.When.Attempt != 0 })
	if !asked || reference == "" || d.count > 0 && d.tenant == sandbox.Tenant {
		return d.count, nil
	}
	count, err := s.ledger.CountFaultRequest(ctx, sandbox.Tenant, reference)
	if err == nil {
		d.tenant, d.count = sandbox.Tenant, count
	}
	return count, err
}

func (s *Service) requestOfCollection(ctx context.Context, sandbox *sandboxes.Sandbox, asked *intent) (*faults.Place, error) {
	market, _, err := s.marketOf(ctx, sandbox, &asked.Order, false)
	if err != nil && !isRefusal(err) { // what is wrong with the market is said later
		return nil, err
	}
	return placeOfOrder(sandbox, asked, market), nil
}

func requestOfDisbursement(_ context.Context, sandbox *sandboxes.Sandbox, asked *intent) (*faults.Place, error) {
	return placeOfOrder(sandbox, asked, sandboxes.Market{Operator: asked.Operator, Country: asked.Country}), nil
}

func placeOfOrder(sandbox *sandboxes.Sandbox, asked *intent, market sandboxes.Market) *faults.Place {
	return &faults.Place{
		Type: asked.kind, Operator: market.Operator, Country: market.Country, Store: storeOf(sandbox, &asked.Order), MSISDN: asked.MSISDN,
		Reference: asked.Reference,
	}
}

func (s *Service) requestOfRefund(ctx context.Context, sandbox *sandboxes.Sandbox, asked *intent) (*faults.Place, error) {
	p := &faults.Place{Type: payments.Refund, Reference: asked.Reference, Request: "refund of " + asked.Parent.String()}
	parent, err := s.ledger.GetTransaction(ctx, sandbox.Tenant, asked.Parent)
	switch {
	case err == nil:
		p.Operator, p.Country, p.Store, p.MSISDN = parent.Operator, parent.Country, parent.Store, parent.MSISDN
	case !errors.Is(err, ledger.ErrNotFound):
		return nil, err
	}
	return p, nil
}
