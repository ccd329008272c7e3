package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

func (a *API) listPrompts(w http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	tenant := who.Sandbox.Tenant
	msisdn, err := msisdnInPath(r)
	if err != nil {
		return httpfront.Answer{}, err
	}
	q := decode.PromptQuery{Limit: wire.DefaultLimit}
	if _, wrong := decode.PromptParameters.Read(w.Header(), r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return httpfront.Answer{}, view.InvalidParams(wrong)
	}
	found, err := a.ledger.ListPrompts(r.Context(), tenant, msisdn, q.After, q.Limit+1)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchTestClient(who.Sandbox, msisdn))
	}
	page := wire.PromptList{Data: []wire.Prompt{}, HasMore: len(found) > q.Limit}
	for i := range found[:min(len(found), q.Limit)] {
		page.Data = append(page.Data, view.PromptOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(decode.PromptCursors.After(tenant, found[q.Limit-1].ID))
	}
	return answered(http.StatusOK, page), nil
}

// answerPrompt needs no body and ignores one.
func (a *API) answerPrompt(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
	given, known := decode.PromptAnswers[chi.URLParam(r, "answer")]
	if !known {
		return httpfront.Answer{}, view.NotFound("There is nothing at this path. " +
			"A prompt is answered with approve, cancel or wrong_pin.")
	}
	msisdn, err := msisdnInPath(r)
	if err != nil {
		return httpfront.Answer{}, err
	}
	id, err := payments.ParseID(chi.URLParam(r, "tx"))
	if err != nil {
		return httpfront.Answer{}, view.NoSuchPrompt()
	}
	t, repeated, err := a.service.AnswerPrompt(r.Context(), who, msisdn, id, given)
	if err != nil {
		return httpfront.Answer{}, orMissing(err, view.NoSuchPrompt())
	}
	payment := view.PaymentOf(t, who.Sandbox.Faults)
	if repeated {
		return replayed(payment), nil
	}
	return answered(http.StatusOK, payment), nil
}

// setManual lets somebody answer for a test client, or its behavior again. It needs no body and ignores one.
func (a *API) setManual(on bool) httpfront.Handler {
	return func(_ http.ResponseWriter, r *http.Request, who *service.Caller) (httpfront.Answer, error) {
		msisdn, err := msisdnInPath(r)
		if err != nil {
			return httpfront.Answer{}, err
		}
		changed, err := a.service.SetManual(r.Context(), who, msisdn, on)
		if err != nil {
			return httpfront.Answer{}, orMissing(err, view.NoSuchTestClient(who.Sandbox, msisdn))
		}
		return answered(http.StatusOK, view.TestClientOf(&changed)), nil
	}
}
