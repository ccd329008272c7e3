package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// promptView is a payment as the payer's phone shows it.
type promptView struct {
	ID            string  `json:"id" doc:"Of the payment that waits for an answer." example:"TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE"`
	Amount        int64   `json:"amount" doc:"Gross amount, in whole units of the currency."`
	CustomerTotal int64   `json:"customerTotal" doc:"What the payer pays if it is approved."`
	Currency      string  `json:"currency" doc:"As sent."`
	Application   string  `json:"application" doc:"Slug of the store."`
	Reference     string  `json:"reference"`
	Description   *string `json:"description"`
	CreatedAt     string  `json:"createdAt" format:"date-time" doc:"ISO 8601, UTC."`
	ExpiresAt     string  `json:"expiresAt" format:"date-time" doc:"When it ends TIMEOUT if nobody answers."`
}

func promptViewOf(p *store.Prompt) promptView {
	return promptView{
		ID: p.ID.String(), Amount: p.Amount, CustomerTotal: p.CustomerTotal, Currency: p.Currency, Application: p.Store,
		Reference: p.Reference, Description: p.Description, CreatedAt: payments.FormatTime(p.CreatedAt), ExpiresAt: payments.FormatTime(p.ExpiresAt),
	}
}

// promptListView is the answer of GET /v1/test_clients/{msisdn}/prompts.
type promptListView struct {
	Data       []promptView `json:"data" doc:"Oldest first."`
	NextCursor *string      `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool         `json:"hasMore"`
}

// promptQuery is what a list of prompts is asked for.
type promptQuery struct {
	after *payments.ID
	limit int
}

// promptParameters reads each parameter into a query and returns what is wrong with it.
var promptParameters = parameters[promptQuery]{
	"limit": func(q *promptQuery, value string, _ int64) string { return limit(&q.limit, value) },
	"cursor": func(q *promptQuery, value string, tenant int64) string {
		return promptCursors.place(&q.after, tenant, value)
	},
}

func (s *Server) listPrompts(_ http.ResponseWriter, r *http.Request) (answer, error) {
	tenant := sessionOf(r).sandbox.Tenant
	msisdn, err := msisdnOf(r)
	if err != nil {
		return answer{}, err
	}
	q := promptQuery{limit: defaultLimit}
	if _, wrong := promptParameters.read(r.URL.RawQuery, tenant, &q); len(wrong) > 0 {
		return answer{}, invalidParams(wrong)
	}
	found, err := s.store.ListPrompts(r.Context(), tenant, msisdn, q.after, q.limit+1)
	if errors.Is(err, store.ErrNotFound) {
		return answer{}, noSuchTestClient()
	}
	if err != nil {
		return answer{}, err
	}
	page := promptListView{Data: []promptView{}, HasMore: len(found) > q.limit}
	for i := range found[:min(len(found), q.limit)] {
		page.Data = append(page.Data, promptViewOf(&found[i]))
	}
	if page.HasMore {
		page.NextCursor = new(promptCursors.after(tenant, found[q.limit-1].ID))
	}
	return answer{status: http.StatusOK, body: page}, nil
}

// promptAnswers are the answers as a path says them.
var promptAnswers = map[string]payments.Answer{
	"approve": payments.AnswerApprove, "cancel": payments.AnswerCancel, "wrong_pin": payments.AnswerWrongPIN,
}

// answerPrompt needs no body and ignores one.
func (s *Server) answerPrompt(_ http.ResponseWriter, r *http.Request) (answer, error) {
	given, known := promptAnswers[chi.URLParam(r, "answer")]
	if !known {
		return answer{}, notFound("There is nothing at this path. A prompt is answered with approve, cancel or wrong_pin.")
	}
	msisdn, err := msisdnOf(r)
	if err != nil {
		return answer{}, err
	}
	id, err := payments.ParseID(chi.URLParam(r, "tx"))
	if err != nil {
		return answer{}, noSuchPrompt()
	}
	t, replayed, err := s.tryToAnswer(r.Context(), sessionOf(r), msisdn, id, given)
	if err != nil {
		return answer{}, promptRefusal(err)
	}
	a := answer{status: http.StatusOK, body: viewOf(t)}
	if replayed {
		a.header = http.Header{"Idempotent-Replayed": {"true"}}
	}
	return a, nil
}

// tryToAnswer answers a prompt, anew if the sandbox was suspended or reset meanwhile and the request may still be served.
func (s *Server) tryToAnswer(
	ctx context.Context, who session, msisdn string, id payments.ID, given payments.Answer,
) (t *payments.Transaction, replayed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookingTimeout)
	defer cancel()
	for range maxTries {
		t, replayed, err = s.store.AnswerPrompt(ctx, who.sandbox.Tenant, msisdn, id, given)
		if !errors.Is(err, store.ErrConfigChanged) {
			break
		}
		if _, err := s.refreshSession(ctx, &who); err != nil {
			return nil, false, err
		}
	}
	return t, replayed, err
}

func noSuchPrompt() *Error {
	return notFound("There is no payment with this id that this test client was asked to confirm.")
}

// promptRefusal says in the API's words why a prompt cannot be answered.
func promptRefusal(err error) error {
	closed := new(store.ErrPromptClosed)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return noSuchPrompt()
	case errors.As(err, &closed):
		status := closed.Transaction.Status
		return &Error{Status: http.StatusConflict, Code: "prompt_closed",
			Message: fmt.Sprintf("The payment has its outcome already, %s. An outcome does not change.", status),
			Detail:  map[string]any{"status": status}}
	}
	return err
}
