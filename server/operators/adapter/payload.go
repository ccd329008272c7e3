package adapter

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Encode writes a payload as JSON and leaves <, > and & as they are, since operators do not escape them either.
func Encode(payload any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(payload); err != nil {
		panic(err) // payloads hold nothing but texts, integers and booleans, which can always be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// IsPayout reports whether the merchant pays: operators treat refunds and disbursements alike.
func IsPayout(t *payments.Transaction) bool { return t.Type != payments.Collection }

// Subscriber is the number of the transaction's customer as operators write it: E.164 without the plus sign.
func Subscriber(t *payments.Transaction) string { return strings.TrimPrefix(t.MSISDN, "+") }

// PayerMessage is the text that the customer sees, which is never empty.
func PayerMessage(t *payments.Transaction) string {
	if t.Description == nil || *t.Description == "" {
		return "Payment"
	}
	return *t.Description
}

// CurrencyCode is the ISO 4217 code of the transaction's currency. The merchant may have sent a common name such as FCFA.
func CurrencyCode(t *payments.Transaction) string {
	return string(payments.CanonicalCurrency(t.Currency))
}

// Ended is a copy of a transaction with another status, to make a payload of it.
func Ended(t *payments.Transaction, status payments.Status) *payments.Transaction {
	ended := *t
	ended.Status = status
	return &ended
}
