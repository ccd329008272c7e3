package httpapi

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

func (s *Server) listPrompts(_ http.ResponseWriter, r *http.Request) (answer, error) {
	tenant := callerOf(r).Sandbox.Tenant
	msisdn, err := msisdnOf(r)
	if err != nil {
		return answer{}, err
	}
	q := wire.PromptQuery{Limit: wire.DefaultLimit}
	if _, wrong := wire.PromptParameters.Read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return answer{}, wire.InvalidParams(wrong)
	}
	found, err := s.ledger.ListPrompts(r.Context(), tenant, msisdn, q.After, q.Limit+1)
	if errors.Is(err, ledger.ErrNotFound) {
		return answer{}, wire.NoSuchTestClient()
	}
	if err != nil {
		return answer{}, err
	}
	page := wire.PromptList{Data: []wire.Prompt{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, wire.PromptOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(wire.PromptCursors.After(tenant, found[q.Limit-1].ID))
	}
	return answer{status: http.StatusOK, body: page}, nil
}

// answerPrompt needs no body and ignores one.
func (s *Server) answerPrompt(_ http.ResponseWriter, r *http.Request) (answer, error) {
	given, known := wire.PromptAnswers[chi.URLParam(r, "answer")]
	if !known {
		return answer{}, wire.NotFound("There is nothing at this path. A prompt is answered with approve, cancel or wrong_pin.")
	}
	msisdn, err := msisdnOf(r)
	if err != nil {
		return answer{}, err
	}
	id, err := payments.ParseID(chi.URLParam(r, "tx"))
	if err != nil {
		return answer{}, wire.NoSuchPrompt()
	}
	who := callerOf(r)
	t, repeated, err := s.service.AnswerPrompt(r.Context(), who, msisdn, id, given)
	if err != nil {
		return answer{}, wire.PromptRefusal(err)
	}
	a := answer{status: http.StatusOK, body: wire.PaymentOf(t, who.Sandbox.Faults)}
	if repeated {
		a.header = http.Header{"Idempotent-Replayed": {"true"}}
	}
	return a, nil
}
