package httpapi

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func (s *Server) createRefund(w http.ResponseWriter, r *http.Request) (answer, error) {
	body, err := wire.CreateRefund.DecodeOptional(w, r)
	if err != nil {
		return answer{}, err
	}
	parent, err := payments.ParseID(chi.URLParam(r, "id"))
	if err != nil {
		return answer{}, wire.NoSuchTransaction()
	}
	made, replayed, err := s.refund(r.Context(), sessionOf(r), parent, body)
	if err != nil {
		return answer{}, err
	}
	return created(r, made, replayed), nil
}

// refund records a refund, or finds the one that the same request recorded before.
func (s *Server) refund(
	ctx context.Context, who session, parent payments.ID, body *wire.RefundRequest,
) (made recorded, replayed bool, err error) {
	asked := newIntent(payments.Refund, body.Reference, func(reference string) []byte {
		sent := *body
		sent.Reference = reference
		return wire.CreateRefund.Hash(payments.Refund, parent.String(), &sent)
	})
	return s.once(ctx, who, asked, func(ctx context.Context, sandbox *sandboxes.Sandbox) (recorded, error) {
		if err := s.disturbRefund(ctx, who, sandbox, parent, body); err != nil {
			return recorded{}, err
		}
		return s.tryRefund(ctx, who, sandbox, parent, body.Amount, asked)
	})
}

func (s *Server) tryRefund(
	ctx context.Context, who session, sandbox *sandboxes.Sandbox, parentID payments.ID, amount *int64, asked *intent,
) (recorded, error) {
	n := ledger.NewRefund{ParentID: parentID, Amount: amount, Clocked: sandbox.Clocked}
	parent, err := s.ledger.GetTransaction(ctx, sandbox.Tenant, parentID)
	if err == nil {
		err = parent.CheckRefund(n.Amount)
	}
	if err != nil {
		return recorded{}, wire.RefundRefusal(err)
	}
	if n.ID, err = payments.NewID(s.now(), s.random); err != nil {
		return recorded{}, err
	}
	if n.Reference, err = s.referenceFor(asked, payments.OriginOf(parent.Reference), payments.OpRefund); err != nil {
		return recorded{}, err
	}
	n.RequestHash, n.Latency = asked.hash, s.payoutLatency(sandbox, n.Reference)
	n.Additions = who.additions(sandbox, n.Reference)
	begun := s.now()
	t, after, err := s.ledger.CreateRefund(ctx, sandbox.Tenant, n)
	if err != nil {
		return recorded{}, wire.RefundRefusal(err)
	}
	return recorded{transaction: t, answerAt: begun.Add(after)}, nil
}

// payoutLatency draws the latencies of both outcomes between which the float decides.
func (s *Server) payoutLatency(sandbox *sandboxes.Sandbox, reference string) ledger.PayoutLatency {
	return ledger.PayoutLatency{
		Paid: s.latencyOf(payments.Success, sandbox, reference), Refused: s.latencyOf(payments.InsufficientFunds, sandbox, reference),
	}
}

// latencyOf draws the latency of an outcome of the transaction with a reference.
func (s *Server) latencyOf(status payments.Status, sandbox *sandboxes.Sandbox, reference string) ledger.Latency {
	draw := s.draw
	if sandbox.Seed != nil {
		draw = func(n int64) int64 {
			return faults.DrawsOf(sandbox.Seed, sandbox.Tenant).Below("latency of "+string(status), reference, n)
		}
	}
	latency := status.Latency(draw)
	if status.Terminal() && sandbox.ClockMode == sandboxes.ManualClock {
		return ledger.Latency{Simulated: latency} // an answer cannot wait for a clock that stands
	}
	return ledger.Latency{Simulated: latency, Waited: payments.ScaleLatency(latency, sandbox.LatencyPercent)}
}
