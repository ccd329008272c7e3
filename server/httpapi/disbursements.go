package httpapi

import (
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

func (s *Server) createDisbursement(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.CreateDisbursement.Decode(w, r)
	if err != nil {
		return answer{}, err
	}
	made, replayed, err := s.disburse(r.Context(), sessionOf(r), body)
	if err != nil {
		return answer{}, err
	}
	a := created(made, replayed)
	a.status = http.StatusOK
	a.body = wire.DisbursementOf(made.transaction, replayed)
	return a, nil
}

// disburse records a disbursement, or finds the one that the same request made before.
func (s *Server) disburse(ctx context.Context, who session, body wire.Fields) (made recorded, replayed bool, err error) {
	asked := newIntent(payments.Disbursement, body, "")
	return s.once(ctx, who, asked, func(ctx context.Context, sandbox *store.Sandbox) (recorded, error) {
		return s.tryDisburse(ctx, sandbox, asked)
	})
}

func (s *Server) tryDisburse(ctx context.Context, sandbox *store.Sandbox, asked *intent) (recorded, error) {
	n, err := s.decideDisbursement(sandbox, asked)
	if err != nil {
		return recorded{}, err
	}
	n.Decided = store.Decided{RequestHash: asked.hash, ConfigVersion: sandbox.ConfigVersion}
	begun := s.now()
	if err := s.store.CreateDisbursement(ctx, sandbox.Tenant, n); err != nil {
		return recorded{}, err
	}
	return recorded{transaction: &n.Transaction, answerAt: begun.Add(n.AnswerAfter)}, nil
}

// decideDisbursement checks a disbursement against the sandbox's configuration. What becomes of it, its recipient and the float
// decide when it is recorded.
func (s *Server) decideDisbursement(sandbox *store.Sandbox, asked *intent) (*store.NewDisbursement, error) {
	body := asked.body
	market := store.Market{Operator: payments.Operator(body.Text("operator")), Country: payments.Country(body.Text("country"))}
	environment, err := environmentFor(sandbox, market, body)
	if err != nil {
		return nil, err
	}
	t := s.described(payments.Disbursement, body)
	if t.ID, err = payments.NewID(s.now(), s.random); err != nil {
		return nil, err
	}
	if t.Reference, err = s.referenceFor(asked, payments.OwnOrigin, payments.OpDisbursement); err != nil {
		return nil, err
	}
	if t.OrderRef == "" {
		t.OrderRef = t.Reference
	}
	t.Status = payments.Success
	t.EnvironmentID, t.Operator, t.Country = environment.ID, market.Operator, market.Country
	t.NetAmount, t.AbsorptionPct = t.Amount, environment.Terms.AbsorptionPct
	n := &store.NewDisbursement{
		Transaction: t, Latency: s.payoutLatency(sandbox), Unknown: payments.DisbursementFacts{Policy: environment.UnknownPolicy}.Outcome(),
	}
	n.Latency.Unknown, n.Latency.Blocked = s.latencyOf(n.Unknown, sandbox), s.latencyOf(payments.AccountBlocked, sandbox)
	return n, nil
}
