package operators

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// moovAPI is a client of Moov's API, in a simple form: the payload is t, the paths and the token are a.
type moovAPI struct{ connection }

const (
	moovTokenPath    = "/auth/token"
	moovPaymentsPath = "/merchant/v1/payments"

	moovBadCredentials = "98" // t
)

// moovRequest is the body of a payment.
type moovRequest struct {
	ExternalReference string `json:"externalReference"`
	Amount            int64  `json:"amount"`
	Currency          string `json:"currency"`
	PhoneNumber       string `json:"phoneNumber"`
	Description       string `json:"description"`
}

// Collect implements [API].
func (m *moovAPI) Collect(ctx context.Context, t *payments.Transaction) (Answer, error) {
	return m.ask(ctx, t, request{method: http.MethodPost, path: moovPaymentsPath, body: moovRequest{
		ExternalReference: requestID(t), Amount: t.Amount, Currency: currencyCode(t), PhoneNumber: subscriber(t), Description: payerMessage(t),
	}})
}

// Ask implements [API].
func (m *moovAPI) Ask(ctx context.Context, t *payments.Transaction) (Answer, error) {
	return m.ask(ctx, t, request{method: http.MethodGet, path: moovPaymentsPath + "/" + requestID(t)})
}

func (m *moovAPI) ask(ctx context.Context, t *payments.Transaction, r request) (Answer, error) {
	answer, err := m.authorized(ctx, r, m.token)
	if err != nil {
		return Answer{}, err
	}
	switch {
	case answer.code == http.StatusConflict:
		return moovFailure(t, payments.DuplicateReference), nil
	case answer.code >= 500, answer.code == http.StatusTooManyRequests, answer.code == http.StatusNotFound:
		return Answer{}, answer.failed()
	case !answer.ok():
		return Answer{}, ErrRefused{fmt.Sprintf("the operator refused the request (%d)", answer.code)}
	}
	var said moovPayload
	if err := answer.into(&said); err != nil {
		return Answer{}, err
	}
	if said.ExternalReference != requestID(t) {
		return Answer{}, errors.New("the operator answered for another payment")
	}
	return said.answer(t)
}

// answer is what a payment's code says, and its text where one code stands for several outcomes. The merchant sees its own reference.
func (p moovPayload) answer(t *payments.Transaction) (Answer, error) {
	p.Simulated, p.ExternalReference = true, t.Reference
	a := Answer{NativeID: nativeID(p.TransactionID), Raw: encode(p)}
	a.Status = moovStatus(p.ResponseCode, p.ResponseMessage)
	switch {
	case p.ResponseCode == moovBadCredentials:
		return Answer{}, ErrRefused{"the operator refused the credentials (" + moovBadCredentials + ")"}
	case a.Status == "":
		return Answer{}, errors.New("the operator answered with an unknown code")
	}
	return a.paid(t, strconv.FormatInt(p.Amount, 10), p.Currency), nil
}

// moovStatus is empty for a code that Moov does not have.
func moovStatus(code, message string) payments.Status {
	byCode := map[string]payments.Status{ // where the text is none that is known
		"0": payments.Success, "100": payments.Pending, "51": payments.InsufficientFunds, "7": payments.AccountBlocked,
		"13": payments.LimitExceeded, "92": payments.Timeout, "95": payments.ServiceUnavailable, "99": payments.ServiceUnavailable,
		"555": payments.UnknownMSISDN,
	}
	for status, answer := range moovAnswers {
		if answer.code == code && answer.message == message {
			return status
		}
	}
	return byCode[code]
}

// moovFailure is the answer for a payment that was refused when it was asked for.
func moovFailure(t *payments.Transaction, status payments.Status) Answer {
	failed := *t
	failed.Status = status
	return Answer{Status: status, Raw: encode(newMoovPayload(&failed))}
}

func (m *moovAPI) token(ctx context.Context) (string, time.Duration, error) {
	answer, err := m.do(ctx, request{method: http.MethodPost, path: moovTokenPath, body: struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}{m.ClientID, m.ClientSecret}})
	if err != nil {
		return "", 0, err
	}
	if err := answer.granted(); err != nil {
		return "", 0, err
	}
	var said struct {
		Token     string  `json:"token"`
		ExpiresIn seconds `json:"expiresIn"`
	}
	if err := answer.into(&said); err != nil {
		return "", 0, err
	}
	return given(said.Token, said.ExpiresIn)
}
