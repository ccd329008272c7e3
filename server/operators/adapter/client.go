// Package adapter has the common code of the operators' packages: the interface of a client, requests with tokens, and
// common fields of payloads.
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

// Client is a client of one operator's own API. Its methods return [ErrRefused] if a retry cannot succeed. After any
// other error, a retry may succeed. No error contains a credential or a URL.
type Client interface {
	// Collect sends a collection to the operator. It may be repeated, because the id at the operator is derived from
	// the transaction. The answer to a repeated request is [payments.DuplicateReference]. An operator that makes the ids
	// itself recognizes no repetition: its client refuses a collection whose answer is lost.
	Collect(ctx context.Context, t *payments.Transaction) (Answer, error)

	// Ask requests the status of a collection.
	Ask(ctx context.Context, t *payments.Transaction) (Answer, error)
}

// Answer is the answer of an operator's API about a collection.
type Answer struct {
	Status   payments.Status
	NativeID string          // the operator's id of the collection; empty if it has none yet
	Raw      json.RawMessage // the operator's payload. The transaction keeps it in NativeRaw, for Ask
}

// RequestID returns the id of a payment in requests to an operator. It is the code of the transaction: 26 digits and
// capital letters. Orange accepts 30 characters (ThirdParty). MTN requires a UUID, see package mtn. RequestID does not
// use the merchant's reference: it is unique only in one sandbox until its next reset, and several sandboxes may use
// one account at an operator.
func RequestID(t *payments.Transaction) string { return t.ID.Code() }

// Paid returns the answer of a successful payment if the operator reports the requested amount and currency. The
// currency is empty if the operator does not report it. For another amount or currency, Paid returns an answer with the
// status SERVICE_UNAVAILABLE and the payload that the function unavailable makes. Otherwise the merchant would be
// credited with another amount than the payer paid.
func (a Answer) Paid(
	t *payments.Transaction, amount, currency string, unavailable func(t *payments.Transaction, reason string) json.RawMessage,
) Answer {
	whole, fraction, _ := strings.Cut(amount, ".")
	same := whole == strconv.FormatInt(t.Amount, 10) && strings.Trim(fraction, "0") == "" && (currency == "" || currency == CurrencyCode(t))
	if a.Status != payments.Success || same {
		return a
	}
	reason := fmt.Sprintf("the operator says that %.40q %.10q was paid, not %d %s", amount, currency, t.Amount, CurrencyCode(t))
	kept := *t
	kept.NativeID = a.NativeID
	return Answer{Status: payments.ServiceUnavailable, NativeID: a.NativeID, Raw: unavailable(&kept, reason)}
}

// NativeID returns an operator's id, or "" if the text cannot be stored and shown to the merchant.
func NativeID(text string) string {
	const longest = 128
	isID := len(text) <= longest && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	if !isID {
		return ""
	}
	return text
}

// ErrRefused is the error for a request or credentials that an operator refuses.
type ErrRefused struct {
	Reason string
}

func (e ErrRefused) Error() string { return e.Reason }

// Access has the URL, the HTTP client and the credentials for an operator's API.
type Access struct {
	BaseURL         string // without a trailing slash
	HTTP            *http.Client
	ClientID        string // MTN: the API user
	ClientSecret    string // MTN: the API key
	SubscriptionKey string // only MTN
	MerchantKey     string // only Orange
	ShortCode       string // only M-Pesa
	Passkey         string // only M-Pesa
	Tokens          *Tokens
}
