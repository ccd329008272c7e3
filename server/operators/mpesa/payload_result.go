package mpesa

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// ResultPayload is a payout in the format of the result of B2C (Documented).
type ResultPayload struct {
	Simulated bool `json:"_simulated"`
	PayoutResult
}

// PayoutResult is the result of a payout.
type PayoutResult struct {
	ResultType               int    `json:"ResultType"`
	ResultCode               any    `json:"ResultCode"`
	ResultDesc               string `json:"ResultDesc"`
	OriginatorConversationID string `json:"OriginatorConversationID"`
	ConversationID           string `json:"ConversationID"`
	TransactionID            string `json:"TransactionID"`
}

// payoutResults are the results of payouts that differ from those of pushes (Assumed: for which outcome).
var payoutResults = map[payments.Status]result{
	payments.AccountBlocked: result{code: "2006"}.both("Declined due to account rule: The account status does not allow this transaction."),
	payments.UnknownMSISDN: result{code: "2040"}.both("Credit Party customer type (Unregistered or Registered Customer) can't be supported by the " +
		"service."),
}

func rawResult(t *payments.Transaction) json.RawMessage {
	r, known := payoutResults[t.Status]
	if !known {
		r = results[t.Status]
	}
	return adapter.Encode(&ResultPayload{Simulated: true, PayoutResult: PayoutResult{
		ResultCode: asNumber(r.code), ResultDesc: r.callback, OriginatorConversationID: t.Reference,
		ConversationID: conversationID(t.CreatedAt, t.Reference), TransactionID: receiptOf(t),
	}})
}
