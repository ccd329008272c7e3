// Package mtn has the payloads (payload.go) and a client (client.go) of MTN's own API, and a simulation of that API
// (api.go). Package operators explains the marks Documented, ThirdParty and Assumed.
package mtn

import (
	"encoding/json"
	"strconv"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// Payload is the answer of MTN's Open API to a status query for a request to pay, or for a transfer (Documented). A
// transfer has a payee instead of a payer.
type Payload struct {
	Simulated              bool   `json:"_simulated"`
	Amount                 string `json:"amount"`
	Currency               string `json:"currency"`
	ExternalID             string `json:"externalId"`
	Payer                  *Party `json:"payer,omitempty"`
	Payee                  *Party `json:"payee,omitempty"`
	PayerMessage           string `json:"payerMessage"`
	PayeeNote              string `json:"payeeNote"`
	Status                 string `json:"status"`
	FinancialTransactionID string `json:"financialTransactionId,omitempty"` // only for a success
	Reason                 string `json:"reason,omitempty"`                 // only for a failure
	Message                string `json:"message,omitempty"`                // why MTN's API could not be used
}

// Party is a payer or a payee.
type Party struct {
	PartyIDType string `json:"partyIdType"`
	PartyID     string `json:"partyId"`
}

const (
	created    = "CREATED" // only for a test number
	pending    = "PENDING"
	successful = "SUCCESSFUL"
	failed     = "FAILED"
)

// reasons are the reasons of failed transactions (Documented).
var reasons = map[payments.Status]string{
	payments.PINInvalid:         "APPROVAL_REJECTED", // Assumed: MTN has no reason for a wrong PIN
	payments.InsufficientFunds:  "NOT_ENOUGH_FUNDS",
	payments.Timeout:            "EXPIRED",
	payments.AccountBlocked:     "SENDER_ACCOUNT_NOT_ACTIVE",
	payments.UserCancelled:      "APPROVAL_REJECTED",
	payments.UnknownMSISDN:      "PAYER_NOT_FOUND",
	payments.LimitExceeded:      "PAYER_LIMIT_REACHED",
	payments.ServiceUnavailable: "SERVICE_UNAVAILABLE",
	payments.DuplicateReference: "RESOURCE_ALREADY_EXIST",
}

// payeeNotFound is the reason of a payout to a number without an account (Documented).
const payeeNotFound = "PAYEE_NOT_FOUND"

// Raw returns the encoded payload of a transaction.
func Raw(t *payments.Transaction) json.RawMessage { return adapter.Encode(NewPayload(t)) }

// Unavailable returns the payload of a collection that ended with [payments.ServiceUnavailable] because MTN's API could
// not be used. Its message is the parameter reason.
func Unavailable(t *payments.Transaction, reason string) json.RawMessage {
	p := NewPayload(adapter.Ended(t, payments.ServiceUnavailable))
	p.Message = reason
	return adapter.Encode(p)
}

// NewPayload returns the payload of a transaction of any type and status.
func NewPayload(t *payments.Transaction) *Payload {
	p := &Payload{
		Simulated:    true,
		Amount:       strconv.FormatInt(t.Amount, 10),
		Currency:     adapter.CurrencyCode(t),
		ExternalID:   t.Reference,
		PayerMessage: adapter.PayerMessage(t),
		PayeeNote:    t.Reference,
	}
	var s sent
	if len(t.NativeSent) > 0 && json.Unmarshal(t.NativeSent, &s) == nil {
		p.ExternalID, p.PayerMessage, p.PayeeNote = s.ExternalID, s.PayerMessage, s.PayeeNote
	}
	party := &Party{PartyIDType: "MSISDN", PartyID: adapter.Subscriber(t)}
	if adapter.IsPayout(t) {
		p.Payee = party
	} else {
		p.Payer = party
	}
	switch t.Status {
	case payments.Pending:
		p.Status = pending
	case payments.Success:
		p.Status = successful
		p.FinancialTransactionID = t.ProviderTxID()
	default:
		p.Status = failed
		p.Reason = reason(t)
	}
	return p
}

func reason(t *payments.Transaction) string {
	if t.Status == payments.UnknownMSISDN && adapter.IsPayout(t) {
		return payeeNotFound
	}
	return reasons[t.Status]
}
