// Package mpesa has the payloads (payload.go) and a client (client.go) of M-Pesa's own API, which Safaricom calls Daraja,
// and a simulation of that API (api.go). Package operators explains the marks Documented, ThirdParty and Assumed.
package mpesa

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// Payload is a collection in the format of the callback of M-Pesa Express (Documented). Only a paid one has
// CallbackMetadata.
type Payload struct {
	Simulated bool `json:"_simulated"`
	Push
}

// Push is the part of a callback about a push.
type Push struct {
	MerchantRequestID string    `json:"MerchantRequestID"`
	CheckoutRequestID string    `json:"CheckoutRequestID"`
	ResultCode        any       `json:"ResultCode"` // a number, or a text such as E3008
	ResultDesc        string    `json:"ResultDesc"`
	CallbackMetadata  *Metadata `json:"CallbackMetadata,omitempty"`
}

// Metadata is what a callback says of a paid push. The items have no promised order.
type Metadata struct {
	Item []Item `json:"Item"`
}

// Item is one fact about a paid push. Some have no value.
type Item struct {
	Name  string `json:"Name"`
	Value any    `json:"Value,omitempty"`
}

// result is the result of a push: the code, and its texts in a callback and in a query, which differ (Documented).
type result struct{ code, callback, query string }

// both returns a result with the same text for both.
func (r result) both(text string) result { return result{r.code, text, text} }

// results are the results of pushes. The mark is Documented unless another is given.
var results = map[payments.Status]result{
	payments.Success:            result{code: "0"}.both("The service request is processed successfully."),
	payments.Pending:            result{code: "4999"}.both("The transaction is still under processing"),
	payments.PINInvalid:         result{code: "2001"}.both("The initiator information is invalid."),
	payments.InsufficientFunds:  result{code: "1"}.both("The balance is insufficient for the transaction."),
	payments.Timeout:            {"1037", "No response from user.", "DS timeout user cannot be reached."},
	payments.AccountBlocked:     result{code: "8006"}.both("The security credential is locked."), // Assumed: for a blocked account
	payments.UserCancelled:      {"1032", "Request cancelled by user", "Request Cancelled by user."},
	payments.UnknownMSISDN:      {"1037", "No response from user.", "DS timeout user cannot be reached."}, // Assumed
	payments.LimitExceeded:      result{code: "3"}.both("Declined due to limit rule: greater than the maximum transaction amount."),
	payments.ServiceUnavailable: result{code: "1025"}.both("An error occurred while sending a push request."),        // Assumed
	payments.DuplicateReference: result{code: "1001"}.both("Unable to lock subscriber, a transaction is in process"), // ThirdParty; Assumed: the text
}

// vagueResult is a failure that is reported without its reason (ThirdParty; Assumed: the text).
var vagueResult = result{code: "9999"}.both("The transaction failed.")

// further are results that no transaction has here by itself. A fault can set them. The mark is Documented.
var further = []result{
	result{code: "1019"}.both("Transaction has expired"),
	result{code: "E3008"}.both("Error, the user has a bad debt contract."),
}

// resultWith returns the result with a code. The text of an unknown code is Assumed.
func resultWith(code string) result {
	for _, known := range slices.AppendSeq(slices.Clone(further), maps.Values(results)) {
		if known.code == code {
			return known
		}
	}
	return result{code: code}.both("The transaction failed.")
}

// resultOf returns the result of a transaction as it is told.
func resultOf(t *payments.Transaction, how operatorapi.StatusView) result {
	r := results[t.Status]
	failed := t.Status.Terminal() && t.Status != payments.Success
	switch {
	case failed && how.Reason != "":
		return resultWith(how.Reason)
	case failed && how.Vague:
		return vagueResult
	}
	return r
}

// asNumber returns a result code as callbacks have it: a number, or a text if it is none.
func asNumber(code string) any {
	if n, err := strconv.Atoi(code); err == nil {
		return n
	}
	return code
}

// Raw returns the encoded payload of a transaction.
func Raw(t *payments.Transaction) json.RawMessage {
	if adapter.IsPayout(t) {
		return rawResult(t)
	}
	return adapter.Encode(NewPayload(t))
}

// Unavailable returns the payload of a collection that ended with [payments.ServiceUnavailable] because M-Pesa's API could
// not be used. Its description is the parameter reason.
func Unavailable(t *payments.Transaction, reason string) json.RawMessage {
	p := NewPayload(adapter.Ended(t, payments.ServiceUnavailable))
	p.ResultDesc = reason
	return adapter.Encode(p)
}

// NewPayload returns the payload of a collection.
func NewPayload(t *payments.Transaction) *Payload {
	return &Payload{Simulated: true, Push: newPush(t, operatorapi.StatusView{})}
}

func newPush(t *payments.Transaction, how operatorapi.StatusView) Push {
	r, checkout := resultOf(t, how), checkoutOf(t)
	p := Push{
		MerchantRequestID: merchantRequestID(checkout), CheckoutRequestID: checkout, ResultCode: asNumber(r.code), ResultDesc: r.callback,
	}
	if t.Status == payments.Success {
		p.CallbackMetadata = &Metadata{[]Item{
			{"Amount", shillings(t.Amount)}, {"MpesaReceiptNumber", receiptOf(t)},
			{Name: "Balance"}, // it often comes without a value (ThirdParty)
			{"TransactionDate", json.Number(completedAt(t))}, {"PhoneNumber", json.Number(adapter.Subscriber(t))},
		}}
	}
	return p
}

// checkoutOf returns the CheckoutRequestID of a collection. That of a push is its reference.
func checkoutOf(t *payments.Transaction) string {
	if t.NativeCall == pushCall {
		return t.Reference
	}
	return checkoutID(t.CreatedAt, t.MSISDN)
}

// shillings returns an amount with two decimals, as a number.
func shillings(amount int64) json.Number { return json.Number(fmt.Sprintf("%d.00", amount)) }

// completedAt returns the time at which a transaction ended, in Nairobi.
func completedAt(t *payments.Transaction) string {
	at := t.CreatedAt
	if t.CompletedAt != nil {
		at = *t.CompletedAt
	}
	return at.In(nairobi).Format(timestamp)
}

// sent has the fields of a request that answers and callbacks need.
type sent struct {
	ShortCode string   `json:"short_code,omitempty"`
	Told      *c2bSent `json:"told,omitempty"`    // only if a confirmation of C2B is sent, or the payer started the payment
	Receipt   string   `json:"receipt,omitempty"` // of a push that the shop was asked about; empty: see receiptOf
	// These are of a payout or of a reversal.
	Conversation string `json:"conversation,omitempty"` // ConversationID
	Name         string `json:"name,omitempty"`         // of the customer
	Original     string `json:"original,omitempty"`     // receipt of the payment that a reversal gives back
}

// keptOf decodes what a transaction keeps of its request.
func keptOf(kept json.RawMessage) (s sent) {
	_ = json.Unmarshal(kept, &s) // what this package stored can be read
	return s
}

// callback is the body of a callback of M-Pesa Express.
type callback struct {
	Body struct {
		Push Push `json:"stkCallback"`
	} `json:"Body"`
}

// newCallback returns the callback of a payment with an outcome, the question about one, or the result of another request.
func newCallback(t *payments.Transaction, kept json.RawMessage, how operatorapi.StatusView) operatorapi.Callback {
	s := keptOf(kept)
	switch how.Kind {
	case validationKind, confirmationKind:
		return newC2BCallback(t, &s)
	case resultKind:
		return newResultCallback(t, kept, how)
	}
	var c callback
	c.Body.Push = newPush(t, how)
	return unsigned(c, s.ShortCode)
}

// unsigned returns a callback with the headers that Safaricom sends (Documented). Nothing is signed.
func unsigned(body any, shortCode string) operatorapi.Callback {
	c := operatorapi.Post(body)
	c.Header = http.Header{"Content-Type": {"application/json;charset=UTF-8"}}
	if shortCode != "" {
		c.Header["BusinessShortCode"] = []string{shortCode}
	}
	return c
}
