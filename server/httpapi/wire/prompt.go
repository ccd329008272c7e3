package wire

import (
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// Prompt is a pending payment that waits for the answer of its payer.
type Prompt struct {
	ID            string  `json:"id" doc:"Id of the payment that waits for an answer." example:"TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE"`
	Amount        int64   `json:"amount" doc:"Gross amount, in whole units of the currency."`
	CustomerTotal int64   `json:"customerTotal" doc:"What the payer pays after an approval."`
	Currency      string  `json:"currency" doc:"As sent."`
	Application   string  `json:"application" doc:"Slug of the store."`
	Reference     string  `json:"reference"`
	Description   *string `json:"description"`
	CreatedAt     string  `json:"createdAt" format:"date-time" doc:"ISO 8601, UTC."`
	ExpiresAt     string  `json:"expiresAt" format:"date-time" doc:"Without an answer, the payment ends TIMEOUT at this time."`
}

// PromptOf returns the view of a prompt.
func PromptOf(p *ledger.Prompt) Prompt {
	return Prompt{
		ID: p.ID.String(), Amount: p.Amount, CustomerTotal: p.CustomerTotal, Currency: p.Currency, Application: p.Store,
		Reference: p.Reference, Description: p.Description, CreatedAt: payments.FormatTime(p.CreatedAt),
		ExpiresAt: payments.FormatTime(p.ExpiresAt),
	}
}

// PromptList is the answer of GET /v1/test_clients/{msisdn}/prompts.
type PromptList struct {
	Data       []Prompt `json:"data" doc:"Oldest first."`
	NextCursor *string  `json:"nextCursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool     `json:"hasMore"`
}

// PromptQuery is the query of a list of prompts.
type PromptQuery struct {
	After *payments.ID
	Limit int
}

// PromptParameters has the parsers of the query's parameters.
var PromptParameters = Parameters[PromptQuery, PromptList]{
	"limit": func(q *PromptQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *PromptQuery, value string, tenant int64) string {
		return PromptCursors.place(&q.After, tenant, value)
	},
}

// PromptAnswers has the answers to a prompt by their names in a path.
var PromptAnswers = map[string]payments.Answer{
	"approve": payments.AnswerApprove, "cancel": payments.AnswerCancel, "wrong_pin": payments.AnswerWrongPIN,
}
