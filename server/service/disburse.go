package service

import (
	"cmp"
	"context"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Disburse records a disbursement, or finds the one that the same request recorded before.
func (s *Service) Disburse(ctx context.Context, who *Caller, a Ask) (Recorded, error) {
	return s.record(ctx, who, newIntent(payments.Disbursement, a), s.afterFault(requestOfDisbursement, s.tryDisburse))
}

// tryDisburse decides a disbursement by one state of the configuration, and records it.
func (s *Service) tryDisburse(ctx context.Context, who *Caller, asked *intent) (Recorded, error) {
	sandbox := who.Sandbox
	n, err := s.decideDisbursement(sandbox, asked)
	if err != nil {
		return Recorded{}, err
	}
	n.RequestStamp = s.stamp(sandbox, asked.fingerprint)
	n.Additions = writtenBeside(who, asked)
	begun := s.now()
	if err := s.ledger.CreateDisbursement(ctx, sandbox.Tenant, n); err != nil {
		return Recorded{}, err
	}
	return Recorded{Transaction: &n.Transaction, AnswerAt: begun.Add(n.AnswerAfter)}, nil
}

// decideDisbursement checks a disbursement against the sandbox's configuration. The recipient and the float decide the
// outcome when it is recorded.
func (s *Service) decideDisbursement(sandbox *sandboxes.Sandbox, asked *intent) (*ledger.NewDisbursement, error) {
	o := &asked.Order
	market := sandboxes.Market{Operator: o.Operator, Country: o.Country}
	environment, err := environmentFor(sandbox, market, o)
	if err != nil {
		return nil, err
	}
	id, err := payments.NewID(s.now(), s.random)
	if err != nil {
		return nil, err
	}
	if err := s.ensureReference(asked, payments.OwnOrigin, payments.OpDisbursement); err != nil {
		return nil, err
	}
	t := payments.Transaction{
		ID: id, Type: payments.Disbursement, Status: payments.Success, Reference: o.Reference,
		OrderRef: cmp.Or(o.OrderRef, o.Reference),
		OrderURL: o.OrderURL, URLProtected: o.URLProtected, Store: storeOf(sandbox, o), Description: o.Description,
		EnvironmentID: environment.ID, Operator: market.Operator, Country: market.Country, Currency: o.Currency,
		MSISDN: o.MSISDN, Amount: o.Amount, NetAmount: o.Amount, AbsorptionPct: environment.Terms.AbsorptionPct,
	}
	facts := payments.DisbursementFacts{
		Policy: environment.UnknownPolicy, TestNumber: TestNumberIn(sandbox, market, o.MSISDN),
	}
	n := &ledger.NewDisbursement{Transaction: t, Latency: s.payoutLatency(sandbox, o.Reference), Unknown: facts.Outcome()}
	s.decideUnknown(n, sandbox, asked)
	return n, nil
}

// decideUnknown draws the latencies of a payout to a blocked SIM, and of one to a number that no SIM has.
func (s *Service) decideUnknown(n *ledger.NewDisbursement, sandbox *sandboxes.Sandbox, asked *intent) {
	n.Latency.Unknown = s.latencyOf(n.Unknown, sandbox, asked.Reference)
	n.Latency.Blocked = s.latencyOf(payments.AccountBlocked, sandbox, asked.Reference)
	if n.Unknown == payments.AccountBlocked { // a test number; a status has one latency
		n.Latency.Unknown = n.Latency.Blocked
	}
	if asked.Call != nil && asked.Call.Party != nil {
		n.Unknown = asked.Call.Party.CollectionOutcome() // a payout has its outcome at once
		n.Latency.Unknown = s.latencyOf(n.Unknown, sandbox, asked.Reference)
	}
}

// stamp returns the fields that the configuration of a sandbox decides for every request that is recorded.
func (s *Service) stamp(sandbox *sandboxes.Sandbox, fingerprint []byte) ledger.RequestStamp {
	return ledger.RequestStamp{
		RequestHash: fingerprint, ConfigVersion: sandbox.ConfigVersion, Clocked: sandbox.Clocked,
		Unfollowed: sandbox.Unfollowed(s.now()),
	}
}
