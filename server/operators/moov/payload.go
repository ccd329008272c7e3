// Package moov speaks Moov's own API: its payloads (payload.go) and a client (client.go). How sure each fact is (o, t or a): see
// package operators.
package moov

import (
	"encoding/json"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// Payload is a transaction as Moov's API shows it (t).
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

// answer is how Moov reports an outcome.
type answer struct{ code, message string }

// answers are the answers of Moov: the codes are t unless marked, the texts are a. Where several outcomes share a code, the text differs.
var answers = map[payments.Status]answer{
	payments.Success:            {"0", "Success"},
	payments.Pending:            {"100", "Pending"},
	payments.PINInvalid:         {"95", "Failed: wrong PIN"}, // a
	payments.InsufficientFunds:  {"51", "Insufficient funds"},
	payments.Timeout:            {"92", "USSD timeout"},
	payments.AccountBlocked:     {"7", "Account locked"}, // a
	payments.UserCancelled:      {"92", "Cancelled by the subscriber"},
	payments.UnknownMSISDN:      {"555", "Subscriber not registered"},
	payments.LimitExceeded:      {"13", "Daily maximum exceeded"},
	payments.ServiceUnavailable: {"99", "Internal error: service unavailable"}, // a
	payments.DuplicateReference: {"95", "Failed: duplicate reference"},         // a
}

// Raw is the payload of a transaction, encoded.
func Raw(t *payments.Transaction) json.RawMessage { return adapter.Encode(NewPayload(t)) }

// Unavailable is the payload of a collection that ended [payments.ServiceUnavailable] because Moov's API could not be used, with the
// reason in place of its text.
func Unavailable(t *payments.Transaction, why string) json.RawMessage {
	p := NewPayload(adapter.Ended(t, payments.ServiceUnavailable))
	p.ResponseMessage = why
	return adapter.Encode(p)
}

// NewPayload makes the payload of a transaction of any type, in any status.
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

// timestamp is the time at which the transaction got its status. It is not the current time: the payload of a transaction must not change
// between two reads.
func timestamp(t *payments.Transaction) string {
	at := t.CreatedAt
	if t.CompletedAt != nil {
		at = *t.CompletedAt
	}
	return at.UTC().Format(time.RFC3339)
}
