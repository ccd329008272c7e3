package service

import (
	"cmp"
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Disburse records a disbursement. For a repeated request, it returns the disbursement that the first request recorded.
func (s *Service) Disburse(ctx context.Context, who *Caller, o Order) (Recorded, error) {
	return s.record(ctx, who, newRecording(payments.Disbursement, o), requestOfDisbursement, s.tryDisburse)
}

// tryDisburse decides a disbursement by the caller's snapshot of the configuration, and records it.
func (s *Service) tryDisburse(ctx context.Context, who *Caller, r *recording) (Recorded, error) {
	sandbox := who.Sandbox
	n, err := s.decideDisbursement(sandbox, r)
	if err != nil {
		return Recorded{}, err
	}
	n.RequestStamp = s.stamp(sandbox, r.fingerprint)
	n.Optional = optionalFields(who, r)
	begun := s.now()
	if err := s.ledger.CreateDisbursement(ctx, sandbox.Tenant, n); err != nil {
		return Recorded{}, err
	}
	return Recorded{Transaction: &n.Transaction, AnswerAt: begun.Add(n.AnswerAfter)}, nil
}

// decideDisbursement checks a disbursement against the sandbox's configuration. The statement that records it decides
// the outcome by the recipient's SIM and the float.
func (s *Service) decideDisbursement(sandbox *sandboxes.Sandbox, r *recording) (*ledger.NewDisbursement, error) {
	o := &r.Order.Order
	market := sandboxes.Market{Operator: o.Operator, Country: o.Country}
	environment, err := environmentFor(sandbox, market, o)
	if err != nil {
		return nil, err
	}
	id, err := payments.NewID(s.now(), s.random)
	if err != nil {
		return nil, err
	}
	if err := s.ensureReference(r, payments.OwnOrigin, payments.OpDisbursement); err != nil {
		return nil, err
	}
	t := payments.Transaction{
		Details: o.Details,
		ID:      id, Type: payments.Disbursement, Status: payments.Success,
		OrderRef: cmp.Or(o.OrderRef, o.Reference), Store: storeOf(sandbox, o), EnvironmentID: environment.ID,
		Operator: market.Operator, Country: market.Country, Amount: o.Amount, NetAmount: o.Amount,
		AbsorptionPct: environment.Terms.AbsorptionPct,
	}
	facts := payments.DisbursementFacts{
		Policy: r.policy(environment.UnknownPolicy), TestNumber: TestNumberIn(sandbox, market, o.MSISDN),
	}
	n := &ledger.NewDisbursement{Transaction: t, Latency: s.payoutLatency(sandbox, o.Reference), Unknown: facts.Outcome()}
	s.decideUnknown(n, sandbox, r)
	if r.Call != nil {
		n.Failed = r.Call.Failed
	}
	return n, nil
}

// decideUnknown draws two latencies of a disbursement: for a blocked SIM, and for a number that no SIM has.
func (s *Service) decideUnknown(n *ledger.NewDisbursement, sandbox *sandboxes.Sandbox, r *recording) {
	n.Latency.Unknown = s.latencyOf(n.Unknown, sandbox, r.Reference)
	n.Latency.Blocked = s.latencyOf(payments.AccountBlocked, sandbox, r.Reference)
	if n.Unknown == payments.AccountBlocked { // a test number; both outcomes have the same status, so the same latency
		n.Latency.Unknown = n.Latency.Blocked
	}
	if r.Call != nil && r.Call.Party != nil {
		n.Unknown = r.Call.Party.CollectionOutcome() // a disbursement is never pending
		n.Latency.Unknown = s.latencyOf(n.Unknown, sandbox, r.Reference)
	}
}

// stamp returns the fields of a recorded request that follow from the sandbox's configuration.
func (s *Service) stamp(sandbox *sandboxes.Sandbox, fingerprint []byte) ledger.RequestStamp {
	return ledger.RequestStamp{
		RequestHash: fingerprint, ConfigVersion: sandbox.ConfigVersion, Clocked: sandbox.Clocked,
		Unfollowed: sandbox.Unfollowed(s.now()),
	}
}
