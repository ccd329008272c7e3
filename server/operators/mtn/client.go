package mtn

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// client is a client of the collections of MTN's Open API (Documented).
type client struct{ adapter.Connection }

const (
	tokenPath        = "/collection/token/"
	requestToPayPath = "/collection/v1_0/requesttopay"
)

// requestToPay is the body of a request to pay.
type requestToPay struct {
	Amount       string `json:"amount"`
	Currency     string `json:"currency"`
	ExternalID   string `json:"externalId"`
	Payer        Party  `json:"payer"`
	PayerMessage string `json:"payerMessage"`
	PayeeNote    string `json:"payeeNote"`
}

// apiError is the body of an error of MTN.
type apiError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NewClient returns a client of MTN's API.
func NewClient(a adapter.Access) adapter.Client { return &client{adapter.NewConnection(a)} }

// Collect implements [adapter.Client].
func (m *client) Collect(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	answer, err := m.Authorized(ctx, adapter.Request{
		Method: http.MethodPost, Path: requestToPayPath, Header: m.header(map[string]string{"X-Reference-Id": referenceID(t.ID)}),
		Body: requestToPay{
			Amount: strconv.FormatInt(t.Amount, 10), Currency: adapter.CurrencyCode(t), ExternalID: t.Reference,
			Payer: Party{"MSISDN", adapter.Subscriber(t)}, PayerMessage: adapter.PayerMessage(t), PayeeNote: t.Reference,
		},
	}, m.token)
	switch {
	case err != nil:
		return adapter.Answer{}, err
	case answer.OK():
		return adapter.Answer{Status: payments.Pending}, nil
	case answer.Code == http.StatusConflict:
		return failure(t, "RESOURCE_ALREADY_EXIST"), nil
	case answer.Code >= 500, answer.Code == http.StatusTooManyRequests, answer.Code == http.StatusRequestTimeout:
		return adapter.Answer{}, answer.Unexpected()
	}
	var refusal apiError
	_ = json.Unmarshal(answer.Body, &refusal) // the body is often empty
	if statusOf(refusal.Code) != payments.ServiceUnavailable {
		return failure(t, refusal.Code), nil
	}
	return adapter.Answer{}, adapter.ErrRefused{Reason: fmt.Sprintf("the operator refused the request (%d %s)", answer.Code, refusal.Code)}
}

// Ask implements [adapter.Client].
func (m *client) Ask(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	answer, err := m.Authorized(ctx, adapter.Request{
		Method: http.MethodGet, Path: requestToPayPath + "/" + referenceID(t.ID), Header: m.header(nil),
	}, m.token)
	if err != nil {
		return adapter.Answer{}, err
	}
	if !answer.OK() {
		return adapter.Answer{}, answer.Unexpected()
	}
	var said struct {
		Payload
		Reason json.RawMessage `json:"reason"` // a string, or an object with a code
	}
	if err := answer.Decode(&said); err != nil {
		return adapter.Answer{}, err
	}
	p := said.Payload
	p.Simulated, p.Reason = true, reasonText(said.Reason)
	a := adapter.Answer{NativeID: adapter.NativeID(p.FinancialTransactionID), Raw: adapter.Encode(p)}
	switch p.Status {
	case pending:
		a.Status = payments.Pending
	case successful:
		a.Status = payments.Success
	case failed:
		a.Status = statusOf(p.Reason)
	default:
		return adapter.Answer{}, fmt.Errorf("the operator answered with an unknown status")
	}
	return a.Paid(t, p.Amount, p.Currency, Unavailable), nil
}

func (m *client) token(ctx context.Context) (string, time.Duration, error) {
	user := base64.StdEncoding.EncodeToString([]byte(m.ClientID + ":" + m.ClientSecret))
	answer, err := m.Do(ctx, adapter.Request{Method: http.MethodPost, Path: tokenPath,
		Header: m.header(map[string]string{"Authorization": "Basic " + user})})
	if err != nil {
		return "", 0, err
	}
	return answer.Token()
}

func (m *client) header(header map[string]string) map[string]string {
	all := map[string]string{"X-Target-Environment": "sandbox", "Ocp-Apim-Subscription-Key": m.SubscriptionKey}
	for name, value := range header {
		all[name] = value
	}
	return all
}

// referenceID returns the id of a payment at MTN. It is derived from the transaction, so that MTN recognizes a repeated
// request. It has the format of a random UUID, which MTN requires.
func referenceID(id payments.ID) string {
	digest := sha256.Sum256(append([]byte("mtn reference:"), id[:]...))
	digest[6] = digest[6]&0x0f | 0x40 // version 4
	digest[8] = digest[8]&0x3f | 0x80 // variant of RFC 9562
	return fmt.Sprintf("%x-%x-%x-%x-%x", digest[0:4], digest[4:6], digest[6:8], digest[8:10], digest[10:16])
}

// failure returns the answer for a payment that MTN refused at once.
func failure(t *payments.Transaction, reason string) adapter.Answer {
	failed := adapter.Ended(t, statusOf(reason))
	p := NewPayload(failed)
	p.Reason = reason
	return adapter.Answer{Status: failed.Status, Raw: adapter.Encode(p)}
}

// statusOf returns the status for a reason. APPROVAL_REJECTED means that the payer refused.
func statusOf(reason string) payments.Status {
	switch reason {
	case "NOT_ENOUGH_FUNDS", "LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED":
		return payments.InsufficientFunds
	case "EXPIRED":
		return payments.Timeout
	case "SENDER_ACCOUNT_NOT_ACTIVE":
		return payments.AccountBlocked
	case "APPROVAL_REJECTED":
		return payments.UserCancelled
	case "PAYER_NOT_FOUND":
		return payments.UnknownMSISDN
	case "PAYER_LIMIT_REACHED":
		return payments.LimitExceeded
	case "RESOURCE_ALREADY_EXIST":
		return payments.DuplicateReference
	}
	return payments.ServiceUnavailable
}

// reasonText returns the text of a reason.
func reasonText(reason json.RawMessage) string {
	var text string
	if json.Unmarshal(reason, &text) == nil {
		return text
	}
	var said apiError
	_ = json.Unmarshal(reason, &said)
	return said.Code
}
