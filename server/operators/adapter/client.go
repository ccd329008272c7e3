// Package adapter is what the packages of the operators share: what a client of an operator's API does, requests with tokens, and the
// parts that all payloads have.
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

// Client is a client of one operator's own API. Its methods return [ErrRefused] where the operator will not have the
// payment, whatever is tried, and any other error where a repetition may succeed. No error holds a credential or a URL.
type Client interface {
	// Collect asks the payer of a collection to pay. It may be repeated: the operator knows the payment by an id that
	// follows from the transaction, and answers [payments.DuplicateReference] for one that it has.
	Collect(ctx context.Context, t *payments.Transaction) (Answer, error)

	// Ask asks how a collection stands.
	Ask(ctx context.Context, t *payments.Transaction) (Answer, error)
}

// Answer is what an operator's API says of a collection.
type Answer struct {
	Status   payments.Status
	NativeID string          // the operator's id of it, empty while there is none
	Raw      json.RawMessage // what was answered, in the form of the operator's payload
}

// RequestID is the id that an operator is asked to know a payment by: the transaction's code, 26 digits and capital letters (Orange takes
// 30 characters, t). It is not the merchant's reference, which is unique within a sandbox and until its next reset only: an operator's
// account may serve several of them. MTN wants a UUID, see package mtn.
func RequestID(t *payments.Transaction) string { return t.ID.Code() }

// Paid is the answer that a payment succeeded, if the operator tells the amount and the currency that it was asked for; an empty currency
// is one that the operator does not tell. Otherwise the answer is not a success, since the merchant would be credited with another amount
// than was paid: its payload is what unavailable makes.
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

// NativeID is an id that an operator gave, or nothing where it gave what is none: it is kept, and shown to the merchant.
func NativeID(text string) string {
	const longest = 128
	isID := len(text) <= longest && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	if !isID {
		return ""
	}
	return text
}

// ErrRefused is returned where an operator refuses the credentials or the request.
type ErrRefused struct {
	Why string
}

func (e ErrRefused) Error() string { return e.Why }

// Access is what an operator's API is reached with.
type Access struct {
	BaseURL         string // without a trailing slash
	HTTP            *http.Client
	ClientID        string // of MTN, the API user
	ClientSecret    string // of MTN, the API key
	SubscriptionKey string // MTN's
	Tokens          *Tokens
}
