package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// bookingTimeout bounds a write, with all its tries. It goes on when the client goes away, so that what was begun has one end.
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
	return created(made, replayed), nil
}

// collect records a collection, or finds the one that the same request made before.
func (s *Server) collect(ctx context.Context, who session, body wire.Fields) (made recorded, replayed bool, err error) {
	asked := newIntent(payments.Collection, body, "")
	return s.once(ctx, who, asked, func(ctx context.Context, sandbox *store.Sandbox) (recorded, error) {
		made, err := s.tryCollect(ctx, sandbox, asked, true)
		if errors.Is(err, store.ErrMarketKnown) {
			made, err = s.tryCollect(ctx, sandbox, asked, false)
		}
		return made, err
	})
}

// tryCollect decides the outcome of a collection by one state of the configuration, and records it. A market that it may presume
// can turn out to be another one: [store.ErrMarketKnown].
func (s *Server) tryCollect(ctx context.Context, sandbox *store.Sandbox, asked *intent, presume bool) (recorded, error) {
	n, err := s.decideCollection(ctx, sandbox, asked.body, presume)
	if err != nil {
		return recorded{}, err
	}
	n.Decided = store.Decided{RequestHash: asked.hash, ConfigVersion: sandbox.ConfigVersion}
	begun := s.now() // before the database's clock says when its event is due, so that no event precedes its answer
	if err := s.store.CreateCollection(ctx, sandbox.Tenant, n); err != nil {
		return recorded{}, err
	}
	made := recorded{transaction: &n.Transaction, answerAt: begun}
	if n.Transaction.Status.Terminal() {
		made.answerAt = begun.Add(n.AnswerAfter)
	}
	return made, nil
}

// decideCollection checks a collection against the sandbox's configuration and decides its outcome, or the outcomes between which
// its payer decides.
func (s *Server) decideCollection(ctx context.Context, sandbox *store.Sandbox, body wire.Fields, presume bool) (*store.NewCollection, error) {
	scenario := payments.Scenario(body.Text("scenario"))
	market, presumed, err := s.marketOf(ctx, sandbox, body, presume && scenario == "")
	if err != nil {
		return nil, err
	}
	environment, err := environmentFor(sandbox, market, body)
	if err != nil {
		return nil, err
	}
	split := environment.Terms.SplitCommission(body.Integer("amount"))
	t := s.described(payments.Collection, body)
	if t.ID, err = payments.NewID(s.now(), s.random); err != nil {
		return nil, err
	}
	t.Scenario = scenario
	t.EnvironmentID, t.Operator, t.Country = environment.ID, market.Operator, market.Country
	t.Commission, t.NetAmount, t.AbsorptionPct = split.Commission, split.NetAmount, environment.Terms.AbsorptionPct
	if t.OrderRef == "" {
		t.OrderRef = t.Reference
	}
	n := &store.NewCollection{Transaction: t, Presumed: presumed, ExpireAfter: sandbox.PendingTimeout}
	facts := payments.CollectionFacts{
		Scenario: scenario, Amount: split.Amount, CustomerTotal: split.CustomerTotal, MaxAmount: environment.MaxAmount,
		Policy: environment.UnknownPolicy,
	}
	if scenario == "" {
		n.Outcomes = s.outcomesOf(facts, sandbox)
		return n, nil
	}
	n.Transaction.Status = facts.Outcome()
	latency := s.latencyOf(n.Transaction.Status, sandbox)
	n.Transaction.Latency, n.AnswerAfter = latency.Simulated, latency.Waited
	return n, nil
}

// outcomesOf draws a latency for each outcome between which the payer decides.
func (s *Server) outcomesOf(facts payments.CollectionFacts, sandbox *store.Sandbox) *store.Outcomes {
	var outcomes store.Outcomes
	for standing, status := range facts.Outcomes() {
		outcomes[standing] = store.PayerOutcome{Status: status, Latency: s.latencyOf(status, sandbox)}
	}
	return &outcomes
}

// described is a transaction with all that its request says of itself.
func (s *Server) described(kind payments.Type, body wire.Fields) payments.Transaction {
	return payments.Transaction{
		Type: kind, Reference: body.Text("reference"), OrderRef: body.Text("order_ref"), OrderURL: body.OptionalText("order_url"),
		URLProtected: body.Boolean("is_url_protected"), Store: body.Text("application"), Description: body.OptionalText("description"),
		Currency: body.Text("currency"), MSISDN: body.Text("msisdn"), Amount: body.Integer("amount"),
	}
}

// marketOf finds out which operator and country a request means: what it says, else what the registered SIM says, else what
// the number's prefix says. The SIM is not looked up if the market can be presumed from the prefix: whoever records the request
// then sees to it that the registry does not know better.
func (s *Server) marketOf(ctx context.Context, sandbox *store.Sandbox, body wire.Fields, presume bool) (market store.Market, presumed bool, err error) {
	market = store.Market{Operator: payments.Operator(body.Text("operator")), Country: payments.Country(body.Text("country"))}
	if market.Operator != "" && market.Country != "" {
		return market, false, nil
	}
	operator, country, _ := operators.Detect(body.Text("msisdn"))
	market.Operator, market.Country = cmp.Or(market.Operator, operator), cmp.Or(market.Country, country)
	if _, err := environmentFor(sandbox, market, body); presume && err == nil {
		return market, true, nil
	}
	sim, err := s.store.FindSIM(ctx, sandbox.Tenant, body.Text("msisdn"))
	if err != nil {
		return market, false, err
	}
	if sim != nil {
		market.Operator = cmp.Or(payments.Operator(body.Text("operator")), sim.Operator)
		market.Country = cmp.Or(payments.Country(body.Text("country")), sim.Country)
	}
	return market, false, undetected(market)
}

// undetected is the error of a request whose market nobody knows.
func undetected(market store.Market) error {
	wrong := wire.FieldErrors{}
	if market.Operator == "" {
		wrong["operator"] = []string{"cannot be detected from the msisdn: send one of mtn, orange, moov, airtel"}
	}
	if market.Country == "" {
		wrong["country"] = []string{"cannot be detected from the msisdn: send one of CI, RW, BJ, TG"}
	}
	if len(wrong) > 0 {
		return wire.InvalidBody(wrong)
	}
	return nil
}

// environmentFor finds the environment that a request is made in, after its store.
func environmentFor(sandbox *store.Sandbox, market store.Market, body wire.Fields) (store.Environment, error) {
	if slug := body.Text("application"); !sandbox.Stores[slug] {
		return store.Environment{}, wire.NotFound(fmt.Sprintf("There is no store %q in this sandbox; application has to be the slug of one.", slug))
	}
	environment, found := sandbox.Environments[market]
	if !found || !environment.Enabled {
		return environment, wire.EnvironmentNotFound("This sandbox has no enabled environment for the operator %s in %s.", market.Operator, market.Country)
	}
	if payments.CanonicalCurrency(body.Text("currency")) != environment.Currency {
		return environment, wire.InvalidField("currency", fmt.Sprintf("has to be %s, the currency of %s", environment.Currency, market.Country))
	}
	return environment, nil
}
