package adapter

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Encode encodes a payload as JSON. Like the operators, it does not escape <, > and &.
func Encode(payload any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(payload); err != nil {
		panic(err) // encoding strings, integers and booleans does not fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// IsPayout reports whether the merchant pays. Operators treat refunds and disbursements in the same way.
func IsPayout(t *payments.Transaction) bool { return t.Type != payments.Collection }

// Subscriber returns the number of the transaction's customer in the format of operators: E.164 without the plus sign.
func Subscriber(t *payments.Transaction) string { return strings.TrimPrefix(t.MSISDN, "+") }

// PayerMessage returns the text for the customer. It is never empty.
func PayerMessage(t *payments.Transaction) string {
	if t.Description == nil || *t.Description == "" {
		return "Payment"
	}
	return *t.Description
}

// CurrencyCode returns the ISO 4217 code of the transaction's currency. The transaction may have a common name such as
// FCFA.
func CurrencyCode(t *payments.Transaction) string {
	return string(payments.CanonicalCurrency(t.Currency))
}

// Ended returns a copy of a transaction with another status.
func Ended(t *payments.Transaction, status payments.Status) *payments.Transaction {
	ended := *t
	ended.Status = status
	return &ended
}
