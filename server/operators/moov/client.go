package moov

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// client is a simple client of Moov's API. By the marks of package operators, the payload is t,
// and the paths and the token are a.
type client struct{ adapter.Connection }

const (
	oldTokenPath = "/auth/token"
	paymentsPath = "/merchant/v1/payments"

	codeOfCredentials = "98" // t
)

// paymentRequest is the body of a payment.
type paymentRequest struct {
	ExternalReference string `json:"externalReference"`
	Amount            int64  `json:"amount"`
	Currency          string `json:"currency"`
	PhoneNumber       string `json:"phoneNumber"`
	Description       string `json:"description"`
}

// NewClient returns a client of Moov's API.
func NewClient(a adapter.Access) adapter.Client { return &client{adapter.NewConnection(a)} }

// Collect implements [adapter.Client].
func (m *client) Collect(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	return m.ask(ctx, t, adapter.Request{Method: http.MethodPost, Path: paymentsPath, Body: paymentRequest{
		ExternalReference: adapter.RequestID(t), Amount: t.Amount, Currency: adapter.CurrencyCode(t),
		PhoneNumber: adapter.Subscriber(t), Description: adapter.PayerMessage(t),
	}})
}

// Ask implements [adapter.Client].
func (m *client) Ask(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	return m.ask(ctx, t, adapter.Request{Method: http.MethodGet, Path: paymentsPath + "/" + adapter.RequestID(t)})
}

func (m *client) ask(ctx context.Context, t *payments.Transaction, r adapter.Request) (adapter.Answer, error) {
	answer, err := m.Authorized(ctx, r, m.token)
	if err != nil {
		return adapter.Answer{}, err
	}
	switch {
	case answer.Code == http.StatusConflict:
		return failure(t, payments.DuplicateReference), nil
	case answer.Code >= 500, answer.Code == http.StatusTooManyRequests, answer.Code == http.StatusNotFound:
		return adapter.Answer{}, answer.Unexpected()
	case !answer.OK():
		return adapter.Answer{}, adapter.ErrRefused{Why: fmt.Sprintf("the operator refused the request (%d)", answer.Code)}
	}
	var said Payload
	if err := answer.Decode(&said); err != nil {
		return adapter.Answer{}, err
	}
	if said.ExternalReference != adapter.RequestID(t) {
		return adapter.Answer{}, errors.New("the operator answered for another payment")
	}
	return said.answer(t)
}

// answer returns the answer for the code of a payment, and for its text if the code has several meanings. It replaces
// the id in the payload by the merchant's reference.
func (p Payload) answer(t *payments.Transaction) (adapter.Answer, error) {
	p.Simulated, p.ExternalReference = true, t.Reference
	a := adapter.Answer{NativeID: adapter.NativeID(p.TransactionID), Raw: adapter.Encode(p)}
	a.Status = statusOf(p.ResponseCode, p.ResponseMessage)
	switch {
	case p.ResponseCode == codeOfCredentials:
		return adapter.Answer{}, adapter.ErrRefused{Why: "the operator refused the credentials (" + codeOfCredentials + ")"}
	case a.Status == "":
		return adapter.Answer{}, errors.New("the operator answered with an unknown code")
	}
	return a.Paid(t, strconv.FormatInt(p.Amount, 10), p.Currency, Unavailable), nil
}

// statusOf returns the status for a code and a text; empty for an unknown code.
func statusOf(code, message string) payments.Status {
	byCode := map[string]payments.Status{ // used for an unknown text
		"0": payments.Success, "100": payments.Pending, "51": payments.InsufficientFunds, "7": payments.AccountBlocked,
		"13": payments.LimitExceeded, "92": payments.Timeout, "95": payments.ServiceUnavailable, "99": payments.ServiceUnavailable,
		"555": payments.UnknownMSISDN,
	}
	for status, answer := range answers {
		if answer.code == code && answer.message == message {
			return status
		}
	}
	return byCode[code]
}

// failure returns the answer for a payment that Moov refused at once.
func failure(t *payments.Transaction, status payments.Status) adapter.Answer {
	return adapter.Answer{Status: status, Raw: adapter.Encode(NewPayload(adapter.Ended(t, status)))}
}

func (m *client) token(ctx context.Context) (string, time.Duration, error) {
	answer, err := m.Do(ctx, adapter.Request{Method: http.MethodPost, Path: oldTokenPath, Body: struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}{m.ClientID, m.ClientSecret}})
	if err != nil {
		return "", 0, err
	}
	if err := answer.Granted(); err != nil {
		return "", 0, err
	}
	var said struct {
		Token     string          `json:"token"`
		ExpiresIn adapter.Seconds `json:"expiresIn"`
	}
	if err := answer.Decode(&said); err != nil {
		return "", 0, err
	}
	return adapter.Token(said.Token, said.ExpiresIn)
}
