// Package adapter holds what the packages of the operators share: the interface of a client, requests with tokens, and the common parts of
// payloads.
package adapter

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/payments"
)

// Client is a client of one operator's own API. Its methods return [ErrRefused] if the operator refuses the payment for good, and any other
// error if a retry may succeed. No error contains a credential or a URL.
type Client interface {
	// Collect asks the payer of a collection to pay. It may be repeated: the id at the operator follows from the transaction, and the
	// answer to a repeated request is [payments.DuplicateReference].
	Collect(ctx context.Context, t *payments.Transaction) (Answer, error)

	// Ask asks for the status of a collection.
	Ask(ctx context.Context, t *payments.Transaction) (Answer, error)
}

// Answer is the answer of an operator's API about a collection.
type Answer struct {
	Status   payments.Status
	NativeID string          // the operator's id of the collection, empty if it has none yet
	Raw      json.RawMessage // the answer, in the form of the operator's payload
}

// RequestID is the id of a payment in requests to an operator: the code of the transaction, 26 digits and capital letters (Orange accepts
// 30 characters, t). It is not the merchant's reference, which is unique only within a sandbox until its next reset: one account at an
// operator may serve several sandboxes. MTN requires a UUID, see package mtn.
func RequestID(t *payments.Transaction) string { return t.ID.Code() }

// Paid returns the answer of a successful payment if the operator reports the requested amount and currency; the currency is empty for an
// operator that does not report it. Otherwise the payment is no success, because the merchant would be credited with another amount than
// was paid: Paid then returns an answer with the payload that unavailable makes.
func (a Answer) Paid(
	t *payments.Transaction, amount, currency string, unavailable func(t *payments.Transaction, why string) json.RawMessage,
) Answer {
	whole, fraction, _ := strings.Cut(amount, ".")
	same := whole == strconv.FormatInt(t.Amount, 10) && strings.Trim(fraction, "0") == "" && (currency == "" || currency == CurrencyCode(t))
	if a.Status != payments.Success || same {
		return a
	}
	why := fmt.Sprintf("the operator says that %.40q %.10q was paid, not %d %s", amount, currency, t.Amount, CurrencyCode(t))
	kept := *t
	kept.NativeID = a.NativeID
	return Answer{Status: payments.ServiceUnavailable, NativeID: a.NativeID, Raw: unavailable(&kept, why)}
}

// NativeID returns the id that an operator gave, or an empty text if it is no valid id: the id is stored and shown to the merchant.
func NativeID(text string) string {
	const longest = 128
	isID := len(text) <= longest && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	if !isID {
		return ""
	}
	return text
}

// ErrRefused is the error of a request or of credentials that an operator refuses.
type ErrRefused struct {
	Why string
}

func (e ErrRefused) Error() string { return e.Why }

// Access is what a client needs to reach an operator's API.
type Access struct {
	BaseURL         string // without a trailing slash
	HTTP            *http.Client
	ClientID        string // at MTN: the API user
	ClientSecret    string // at MTN: the API key
	SubscriptionKey string // only at MTN
	Tokens          *Tokens
}
