package httpapi

import (
	"cmp"
	"context"
	"net/http"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
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
	a := created(r, made, replayed)
	a.status = http.StatusOK
	a.body = wire.DisbursementOf(made.transaction, replayed)
	return a, nil
}

// disburse records a disbursement, or finds the one that the same request recorded before.
func (s *Server) disburse(ctx context.Context, who session, body *wire.DisbursementRequest) (made recorded, replayed bool, err error) {
	asked := newIntent(payments.Disbursement, body.Reference, func(reference string) []byte {
		sent := *body
		sent.Reference = reference
		return wire.CreateDisbursement.Hash(payments.Disbursement, "", &sent)
	})
	return s.once(ctx, who, asked, func(ctx context.Context, sandbox *sandboxes.Sandbox) (recorded, error) {
		if err := s.disturbDisbursement(ctx, who, sandbox, body); err != nil {
			return recorded{}, err
		}
		return s.tryDisburse(ctx, who, sandbox, body, asked)
	})
}

// stamp is what a request is recorded with that was decided on the configuration of a sandbox.
func (s *Server) stamp(sandbox *sandboxes.Sandbox, hash []byte) ledger.RequestStamp {
	return ledger.RequestStamp{
		RequestHash: hash, ConfigVersion: sandbox.ConfigVersion, Clocked: sandbox.Clocked, Unwatched: sandbox.Unwatched(s.now()),
	}
}

func (s *Server) tryDisburse(
	ctx context.Context, who session, sandbox *sandboxes.Sandbox, body *wire.DisbursementRequest, asked *intent,
) (recorded, error) {
	n, err := s.decideDisbursement(sandbox, body, asked)
	if err != nil {
		return recorded{}, err
	}
	n.RequestStamp = s.stamp(sandbox, asked.hash)
	n.Additions = who.additions(sandbox, n.Transaction.Reference)
	begun := s.now()
	if err := s.ledger.CreateDisbursement(ctx, sandbox.Tenant, n); err != nil {
		return recorded{}, err
	}
	return recorded{transaction: &n.Transaction, answerAt: begun.Add(n.AnswerAfter)}, nil
}

// decideDisbursement checks a disbursement against the sandbox's configuration. The recipient and the float decide the outcome when it
// is recorded.
func (s *Server) decideDisbursement(
	sandbox *sandboxes.Sandbox, body *wire.DisbursementRequest, asked *intent,
) (*ledger.NewDisbursement, error) {
	market := sandboxes.Market{Operator: payments.Operator(body.Operator), Country: payments.Country(body.Country)}
	environment, err := environmentFor(sandbox, market, body.Application, body.Currency)
	if err != nil {
		return nil, err
	}
	id, err := payments.NewID(s.now(), s.random)
	if err != nil {
		return nil, err
	}
	reference, err := s.referenceFor(asked, payments.OwnOrigin, payments.OpDisbursement)
	if err != nil {
		return nil, err
	}
	t := payments.Transaction{
		ID: id, Type: payments.Disbursement, Status: payments.Success, Reference: reference, OrderRef: cmp.Or(body.OrderRef, reference),
		OrderURL: body.OrderURL, URLProtected: isTrue(body.IsURLProtected), Store: body.Application, Description: body.Description,
		EnvironmentID: environment.ID, Operator: market.Operator, Country: market.Country, Currency: body.Currency, MSISDN: body.MSISDN,
		Amount: body.Amount, NetAmount: body.Amount, AbsorptionPct: environment.Terms.AbsorptionPct,
	}
	facts := payments.DisbursementFacts{Policy: environment.UnknownPolicy, TestNumber: testNumberIn(sandbox, market, body.MSISDN)}
	n := &ledger.NewDisbursement{Transaction: t, Latency: s.payoutLatency(sandbox, reference), Unknown: facts.Outcome()}
	n.Latency.Unknown, n.Latency.Blocked = s.latencyOf(n.Unknown, sandbox, reference), s.latencyOf(payments.AccountBlocked, sandbox, reference)
	if n.Unknown == payments.AccountBlocked { // a test number; a status has one latency
		n.Latency.Unknown = n.Latency.Blocked
	}
	return n, nil
}
