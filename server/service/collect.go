package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Collect records a collection. For a repeated request, it returns the collection that the first request recorded.
func (s *Service) Collect(ctx context.Context, who *Caller, o Order) (Recorded, error) {
	return s.record(ctx, who, newRecording(payments.Collection, o), s.requestOfCollection, s.tryCollect)
}

// tryCollect decides the outcome of a collection by the caller's snapshot of the configuration, and records the
// collection. If the registry has another market than the presumed one, it decides again with that market.
func (s *Service) tryCollect(ctx context.Context, who *Caller, r *recording) (Recorded, error) {
	sandbox := who.Sandbox
	for mayPresume := true; ; mayPresume = false {
		n, err := s.decideCollection(ctx, sandbox, r, mayPresume)
		if err != nil {
			return Recorded{}, err
		}
		n.RequestStamp = s.stamp(sandbox, r.fingerprint)
		n.Optional = optionalFields(who, r)
		begun := s.now() // read before the statement sets the event's due time, so that the answer is due first
		err = s.ledger.CreateCollection(ctx, sandbox.Tenant, n)
		if mayPresume && errors.Is(err, ledger.ErrMarketKnown) {
			continue
		}
		if err != nil {
			return Recorded{}, err
		}
		recorded := Recorded{Transaction: &n.Transaction, AnswerAt: begun}
		if n.Transaction.Status.Terminal() {
			recorded.AnswerAt = begun.Add(n.AnswerAfter)
		}
		return recorded, nil
	}
}

// decideCollection checks a collection against the sandbox's configuration and decides its outcome. If the outcome
// depends on the payer's SIM, it decides one outcome for each state of the SIM.
func (s *Service) decideCollection(
	ctx context.Context, sandbox *sandboxes.Sandbox, r *recording, mayPresume bool,
) (*ledger.NewCollection, error) {
	o := &r.Order.Order
	market, presumed, err := s.marketOf(ctx, sandbox, o, mayPresume && o.Scenario == "")
	if err != nil {
		return nil, err
	}
	environment, err := environmentFor(sandbox, market, o)
	if err != nil {
		return nil, err
	}
	id, err := payments.NewID(s.now(), s.random)
	if err != nil {
		return nil, err
	}
	split := environment.Terms.SplitCommission(o.Amount)
	t := payments.Transaction{
		Details: o.Details,
		ID:      id, Type: payments.Collection, OrderRef: cmp.Or(o.OrderRef, o.Reference),
		Store: storeOf(sandbox, o), EnvironmentID: environment.ID, Operator: market.Operator,
		Country: market.Country, Amount: o.Amount, Commission: split.Commission, NetAmount: split.NetAmount,
		AbsorptionPct: environment.Terms.AbsorptionPct,
	}
	n := &ledger.NewCollection{Transaction: t, Presumed: presumed, ExpireAfter: r.expireAfter(sandbox.PendingTimeout)}
	s.decideOutcome(n, sandbox, r, payments.CollectionFacts{
		Scenario: o.Scenario, Amount: split.Amount, CustomerTotal: split.CustomerTotal, MaxAmount: environment.MaxAmount,
		Policy: r.policy(environment.UnknownPolicy), TestNumber: TestNumberIn(sandbox, market, o.MSISDN),
	})
	return n, nil
}

// decideOutcome decides the status and the latency of a collection. If they depend on the payer's state, it sets a
// status and a latency for each state. The ledger picks one when it records the collection.
func (s *Service) decideOutcome(
	n *ledger.NewCollection, sandbox *sandboxes.Sandbox, r *recording, facts payments.CollectionFacts,
) {
	if facts.Scenario == "" {
		n.ByPayer, n.TestBehavior = s.statusByPayer(facts, sandbox, r.Reference), behaviorOf(facts.TestNumber)
		if r.Call != nil && r.Call.AnyNumber && facts.TestNumber == nil {
			n.TestBehavior = payments.Approve
		}
		s.asParty(n, sandbox, r)
		return
	}
	n.Transaction.Status = facts.Outcome()
	latency := s.latencyOf(n.Transaction.Status, sandbox, r.Reference)
	n.Transaction.Latency, n.AnswerAfter = latency.Simulated, latency.Waited
}

// statusByPayer draws a latency for each status that the state of the payer can lead to.
func (s *Service) statusByPayer(
	facts payments.CollectionFacts, sandbox *sandboxes.Sandbox, reference string,
) *ledger.StatusByPayer {
	var byPayer ledger.StatusByPayer
	for state, status := range facts.Outcomes() {
		byPayer[state] = ledger.StatusAndLatency{Status: status, Latency: s.latencyOf(status, sandbox, reference)}
	}
	if n := facts.TestNumber; n != nil && n.Latency > 0 && byPayer[payments.PayerUnknown].Status == payments.Pending {
		byPayer[payments.PayerUnknown].Latency = ledger.Latency{Simulated: n.Latency, Waited: n.Latency}
	}
	return &byPayer
}

// asParty replaces the outcome for a number without a SIM by the behavior of the number in the operator's own sandbox.
func (s *Service) asParty(n *ledger.NewCollection, sandbox *sandboxes.Sandbox, r *recording) {
	if r.Call == nil || r.Call.Party == nil {
		return
	}
	party := r.Call.Party
	latency := s.latencyOf(party.Status, sandbox, r.Reference)
	if party.Latency > 0 {
		latency = ledger.Latency{Simulated: party.Latency, Waited: party.Latency}
	}
	n.ByPayer[payments.PayerUnknown] = ledger.StatusAndLatency{Status: party.Status, Latency: latency}
	n.TestBehavior = party.Behavior
}
