// Package moov has the payloads (payload.go) and a client (client.go) of Moov's own API, and a simulation of that API
// (api.go). Package operators explains the marks Documented, ThirdParty and Assumed.
package moov

import (
	"encoding/json"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// Payload is a transaction in the format of Moov's API (ThirdParty).
type Payload struct {
	Simulated         bool   `json:"_simulated"`
	ResponseCode      string `json:"responseCode"`
	ResponseMessage   string `json:"responseMessage"`
	TransactionID     string `json:"transactionId"`
	ExternalReference string `json:"externalReference"`
	Amount            int64  `json:"amount"`
	Currency          string `json:"currency"`
	PhoneNumber       string `json:"phoneNumber"`
	Timestamp         string `json:"timestamp"` // RFC 3339, UTC
}

// answer is Moov's report of an outcome.
type answer struct{ code, message string }

// answers are the answers of Moov. The codes are ThirdParty unless another mark is given. The texts are Assumed.
// Outcomes with the same code have different texts.
var answers = map[payments.Status]answer{
	payments.Success:            {"0", "Success"},
	payments.Pending:            {"100", "Pending"},
	payments.PINInvalid:         {"95", "Failed: wrong PIN"}, // Assumed
	payments.InsufficientFunds:  {"51", "Insufficient funds"},
	payments.Timeout:            {"92", "USSD timeout"},
	payments.AccountBlocked:     {"7", "Account locked"}, // Assumed
	payments.UserCancelled:      {"92", "Cancelled by the subscriber"},
	payments.UnknownMSISDN:      {"555", "Subscriber not registered"},
	payments.LimitExceeded:      {"13", "Daily maximum exceeded"},
	payments.ServiceUnavailable: {"99", "Internal error: service unavailable"}, // Assumed
	payments.DuplicateReference: {"95", "Failed: duplicate reference"},         // Assumed
}

// Raw returns the encoded payload of a transaction.
func Raw(t *payments.Transaction) json.RawMessage { return adapter.Encode(NewPayload(t)) }

// Unavailable returns the payload of a collection that ended with [payments.ServiceUnavailable] because Moov's API
// could not be used. Its message is the parameter reason.
func Unavailable(t *payments.Transaction, reason string) json.RawMessage {
	p := NewPayload(adapter.Ended(t, payments.ServiceUnavailable))
	p.ResponseMessage = reason
	return adapter.Encode(p)
}

// NewPayload returns the payload of a transaction of any type and status.
func NewPayload(t *payments.Transaction) *Payload {
	answer := answers[t.Status]
	return &Payload{
		Simulated:         true,
		ResponseCode:      answer.code,
		ResponseMessage:   answer.message,
		TransactionID:     t.ProviderTxID(),
		ExternalReference: t.Reference,
		Amount:            t.Amount,
		Currency:          adapter.CurrencyCode(t),
		PhoneNumber:       adapter.Subscriber(t),
		Timestamp:         timestamp(t),
	}
}

// timestamp returns the time at which the transaction got its status. It is not the current time, because two reads
// must return the same payload.
func timestamp(t *payments.Transaction) string {
	at := t.CreatedAt
	if t.CompletedAt != nil {
		at = *t.CompletedAt
	}
	return at.UTC().Format(time.RFC3339)
}
