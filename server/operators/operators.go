// Package operators knows how the mobile-money operators speak: which numbers are whose, and what an operator's own API
// says of a transaction.
//
// Every fact in its tables carries how sure it is: o observed in an operator's answers or documented by the operator,
// t not documented, but third-party clients agree on it, a assumed. A mark on a table holds for all of its rows that have
// none of their own.
package operators

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Raw is the payload with which the transaction's operator would tell how the transaction stands: of any type, in any
// status. Amounts are the transaction's gross amount, in whole units of its currency; numbers are written without their
// plus sign, as the operators do. Every payload that is made here has "_simulated": true as its first key.
//
// A transaction that was forwarded to an operator's API keeps what that API answered, and Raw returns just that. Anything
// else follows from the transaction alone, so that it can be made whenever it is read and need not be stored. The result
// is nil, which is JSON's null, for an operator that does not exist.
func Raw(t *payments.Transaction) json.RawMessage {
	if len(t.NativeRaw) > 0 {
		return t.NativeRaw
	}
	switch t.Operator {
	case payments.MTN:
		return encode(newMTNPayload(t))
	case payments.Orange:
		return encode(newOrangePayload(t))
	case payments.Moov:
		return encode(newMoovPayload(t))
	case payments.Airtel:
		return encode(newAirtelPayload(t))
	}
	return nil
}

// encode writes a payload as JSON and leaves <, > and & as they are, since operators do not escape them either.
func encode(payload any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(payload); err != nil {
		panic(err) // payloads hold nothing but texts, integers and booleans, which can always be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// isPayout reports whether the merchant pays: for an operator, a refund and a disbursement are the same.
func isPayout(t *payments.Transaction) bool { return t.Type != payments.Collection }

// subscriber is the number of the transaction's customer as operators write it: E.164 without the plus sign.
func subscriber(t *payments.Transaction) string { return strings.TrimPrefix(t.MSISDN, "+") }

// payerMessage is the text that the customer sees, which is never empty.
func payerMessage(t *payments.Transaction) string {
	if t.Description == nil || *t.Description == "" {
		return "Payment"
	}
	return *t.Description
}

// currencyCode is the ISO 4217 code of the transaction's currency, whatever its caller calls it.
func currencyCode(t *payments.Transaction) string {
	return string(payments.CanonicalCurrency(t.Currency))
}
