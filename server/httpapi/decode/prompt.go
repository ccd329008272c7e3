package decode

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// PromptQuery is the query of a list of prompts.
type PromptQuery struct {
	After *payments.ID
	Limit int
}

// PromptParameters has the parsers of the query's parameters.
var PromptParameters = Parameters[PromptQuery, wire.PromptList]{
	"limit": func(q *PromptQuery, value string, _ int64) string { return limit(&q.Limit, value) },
	"cursor": func(q *PromptQuery, value string, tenant int64) string {
		return PromptCursors.decode(&q.After, tenant, value)
	},
}

// PromptAnswers has the answers to a prompt by their names in a path.
var PromptAnswers = map[string]payments.Answer{
	"approve": payments.AnswerApprove, "cancel": payments.AnswerCancel, "wrong_pin": payments.AnswerWrongPIN,
}
