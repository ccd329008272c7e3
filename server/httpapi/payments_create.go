package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// bookingTimeout bounds a write, with all its tries. The write goes on when the client disconnects.
const bookingTimeout = 10 * time.Second

func (s *Server) createPayment(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.CreatePayment.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	made, replayed, err := s.collect(r.Context(), sessionOf(r), body)
	if err != nil {
		return answer{}, err
	}
	return created(r, made, replayed), nil
}

// collect records a collection, or finds the one that the same request recorded before.
func (s *Server) collect(ctx context.Context, who session, body *wire.CreatePaymentRequest) (made recorded, replayed bool, err error) {
	asked := newIntent(payments.Collection, body.Reference, func(string) []byte {
		return wire.CreatePayment.Hash(payments.Collection, "", body)
	})
	return s.once(ctx, who, asked, func(ctx context.Context, sandbox *sandboxes.Sandbox) (recorded, error) {
		if err := s.disturbCollection(ctx, who, sandbox, body); err != nil {
			return recorded{}, err
		}
		made, err := s.tryCollect(ctx, who, sandbox, body, asked.hash, true)
		if errors.Is(err, ledger.ErrMarketKnown) {
			made, err = s.tryCollect(ctx, who, sandbox, body, asked.hash, false)
		}
		return made, err
	})
}

// tryCollect decides the outcome of a collection by one state of the configuration, and records it. A market that it may presume
// can turn out to be another one: [ledger.ErrMarketKnown].
func (s *Server) tryCollect(
	ctx context.Context, who session, sandbox *sandboxes.Sandbox, body *wire.CreatePaymentRequest, hash []byte, presume bool,
) (recorded, error) {
	n, err := s.decideCollection(ctx, sandbox, body, presume)
	if err != nil {
		return recorded{}, err
	}
	n.RequestStamp = s.stamp(sandbox, hash)
	n.Additions = who.additions(sandbox, body.Reference)
	begun := s.now() // before the database's clock says when its event is due, so that no event precedes its answer
	if err := s.ledger.CreateCollection(ctx, sandbox.Tenant, n); err != nil {
		return recorded{}, err
	}
	made := recorded{transaction: &n.Transaction, answerAt: begun}
	if n.Transaction.Status.Terminal() {
		made.answerAt = begun.Add(n.AnswerAfter)
	}
	return made, nil
}

// decideCollection checks a collection against the sandbox's configuration and decides its outcome. If the payer's SIM decides, it
// decides one outcome for each state of the SIM.
func (s *Server) decideCollection(
	ctx context.Context, sandbox *sandboxes.Sandbox, body *wire.CreatePaymentRequest, presume bool,
) (*ledger.NewCollection, error) {
	scenario := payments.Scenario(body.Scenario)
	market, presumed, err := s.marketOf(ctx, sandbox, body, presume && scenario == "")
	if err != nil {
		return nil, err
	}
	environment, err := environmentFor(sandbox, market, body.Application, body.Currency)
	if err != nil {
		return nil, err
	}
	id, err := payments.NewID(s.now(), s.random)
	if err != nil {
		return nil, err
	}
	split := environment.Terms.SplitCommission(body.Amount)
	t := payments.Transaction{
		ID: id, Type: payments.Collection, Scenario: scenario, Reference: body.Reference, OrderRef: cmp.Or(body.OrderRef, body.Reference),
		OrderURL: body.OrderURL, URLProtected: isTrue(body.IsURLProtected), Store: body.Application, Description: body.Description,
		EnvironmentID: environment.ID, Operator: market.Operator, Country: market.Country, Currency: body.Currency, MSISDN: body.MSISDN,
		Amount: body.Amount, Commission: split.Commission, NetAmount: split.NetAmount, AbsorptionPct: environment.Terms.AbsorptionPct,
	}
	n := &ledger.NewCollection{Transaction: t, Presumed: presumed, ExpireAfter: sandbox.PendingTimeout}
	facts := payments.CollectionFacts{
		Scenario: scenario, Amount: split.Amount, CustomerTotal: split.CustomerTotal, MaxAmount: environment.MaxAmount,
		Policy: environment.UnknownPolicy, TestNumber: testNumberIn(sandbox, market, body.MSISDN),
	}
	if scenario == "" {
		n.ByPayer = s.statusByPayer(facts, sandbox, body.Reference)
		n.TestBehavior = behaviorOf(facts.TestNumber)
		return n, nil
	}
	n.Transaction.Status = facts.Outcome()
	latency := s.latencyOf(n.Transaction.Status, sandbox, body.Reference)
	n.Transaction.Latency, n.AnswerAfter = latency.Simulated, latency.Waited
	return n, nil
}

// statusByPayer draws a latency for each status between which the state of the payer decides.
func (s *Server) statusByPayer(facts payments.CollectionFacts, sandbox *sandboxes.Sandbox, reference string) *ledger.StatusByPayer {
	var byPayer ledger.StatusByPayer
	for state, status := range facts.Outcomes() {
		byPayer[state] = ledger.StatusAndLatency{Status: status, Latency: s.latencyOf(status, sandbox, reference)}
	}
	if n := facts.TestNumber; n != nil && n.Latency > 0 && byPayer[payments.PayerUnknown].Status == payments.Pending {
		byPayer[payments.PayerUnknown].Latency = ledger.Latency{Simulated: n.Latency, Waited: n.Latency}
	}
	return &byPayer
}

func behaviorOf(n *payments.TestNumber) payments.Behavior {
	if n == nil {
		return ""
	}
	return n.Behavior
}

func isTrue(b *bool) bool { return b != nil && *b }

// marketOf finds the operator and country of a request: from its fields, else from the registered SIM, else from the number, see [detect].
// If the number determines the market, it is presumed without a look at the SIM. The statement that records the request then checks that
// the registry does not say otherwise.
func (s *Server) marketOf(
	ctx context.Context, sandbox *sandboxes.Sandbox, body *wire.CreatePaymentRequest, presume bool,
) (market sandboxes.Market, presumed bool, err error) {
	market = sandboxes.Market{Operator: payments.Operator(body.Operator), Country: payments.Country(body.Country)}
	if market.Operator != "" && market.Country != "" {
		return market, false, nil
	}
	market = detect(sandbox, market, body.MSISDN)
	if _, err := environmentFor(sandbox, market, body.Application, body.Currency); presume && err == nil {
		return market, true, nil
	}
	sim, err := s.ledger.FindSIM(ctx, sandbox.Tenant, body.MSISDN)
	if err != nil {
		return market, false, err
	}
	if sim != nil {
		market.Operator = cmp.Or(payments.Operator(body.Operator), sim.Operator)
		market.Country = cmp.Or(payments.Country(body.Country), sim.Country)
	}
	return market, false, undetected(market)
}

// undetected is the error of a request whose market nobody knows.
func undetected(market sandboxes.Market) error {
	wrong := wire.FieldErrors{}
	if market.Operator == "" {
		wrong["operator"] = []string{"cannot be detected from the msisdn: send one of " + payments.List(payments.Operators)}
	}
	if market.Country == "" {
		wrong["country"] = []string{"cannot be detected from the msisdn: send one of " + payments.List(payments.Countries)}
	}
	if len(wrong) > 0 {
		return wire.InvalidBody(wrong)
	}
	return nil
}

// environmentFor finds the environment that a request is made in, after its store.
func environmentFor(sandbox *sandboxes.Sandbox, market sandboxes.Market, application, currency string) (sandboxes.Environment, error) {
	if !sandbox.Stores[application] {
		const format = "This sandbox has no store %q. Send one of its stores as application: %s."
		return sandboxes.Environment{}, wire.NotFound(fmt.Sprintf(format, application, someOf(maps.Keys(sandbox.Stores))))
	}
	environment, found := sandbox.Environments[market]
	if !found || !environment.Enabled {
		return environment, wire.EnvironmentNotFound("This sandbox has no enabled environment for the operator %s in %s. It has: %s.",
			market.Operator, market.Country, someOf(enabled(sandbox)))
	}
	if payments.CanonicalCurrency(currency) != environment.Currency {
		return environment, wire.InvalidField("currency", fmt.Sprintf("must be %s, the currency of %s", environment.Currency, market.Country))
	}
	return environment, nil
}

// enabled are the markets of the enabled environments of a sandbox, as texts.
func enabled(sandbox *sandboxes.Sandbox) iter.Seq[string] {
	return func(yield func(string) bool) {
		for market, environment := range sandbox.Environments {
			if environment.Enabled && !yield(fmt.Sprintf("%s in %s", market.Operator, market.Country)) {
				return
			}
		}
	}
}

// someOf are the names that a sandbox has, at most ten of them.
func someOf(names iter.Seq[string]) string {
	const most = 10
	all := slices.Sorted(names)
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
