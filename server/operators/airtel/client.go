package airtel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// client is a client of the collections of Airtel's Open API (Documented). Airtel does not report the amount of a
// payment.
type client struct{ adapter.Connection }

const (
	tokenPath    = "/auth/oauth2/token"
	paymentsPath = "/merchant/v1/payments/"
	enquiryPath  = "/standard/v1/payments/"

	ambiguous = "TA"
	invalid   = "ESB000008"
)

// paymentRequest is the body of a payment.
type paymentRequest struct {
	Reference   string      `json:"reference"`
	Subscriber  Subscriber  `json:"subscriber"`
	Transaction Transaction `json:"transaction"`
}

// reply is the answer to a payment and to an enquiry.
type reply struct {
	Data struct {
		Transaction struct {
			Result
			AirtelMoneyID string `json:"airtel_money_id"`
		} `json:"transaction"`
	} `json:"data"`
	Status Status `json:"status"`
}

// nationalNumber returns the number of a transaction without its country code.
func nationalNumber(t *payments.Transaction) string {
	return strings.TrimPrefix(adapter.Subscriber(t), t.Country.CallingCode())
}

// NewClient returns a client of Airtel's API.
func NewClient(a adapter.Access) adapter.Client { return &client{adapter.NewConnection(a)} }

// Collect implements [adapter.Client].
func (a *client) Collect(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	p := NewPayload(t)
	p.Transaction.ID, p.Subscriber.MSISDN = adapter.RequestID(t), nationalNumber(t)
	body, err := a.ask(ctx, t, adapter.Request{
		Method: http.MethodPost, Path: paymentsPath, Body: paymentRequest{p.Transaction.ID, p.Subscriber, p.Transaction},
	})
	switch {
	case err != nil:
		return adapter.Answer{}, err
	case body.Status.Success:
		return adapter.Answer{Status: payments.Pending, NativeID: body.id(t)}, nil
	case body.Status.ResultCode == duplicateID:
		return body.answer(t, payments.DuplicateReference), nil
	case body.Status.ResultCode != invalid && failure(body.Status.ResponseCode) != payments.ServiceUnavailable:
		return body.answer(t, failure(body.Status.ResponseCode)), nil
	}
	return adapter.Answer{}, adapter.ErrRefused{Reason: fmt.Sprintf("the operator refused the request (%s %s)", body.Status.ResultCode,
		body.Status.ResponseCode)}
}

// Ask implements [adapter.Client].
func (a *client) Ask(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	body, err := a.ask(ctx, t, adapter.Request{Method: http.MethodGet, Path: enquiryPath + adapter.RequestID(t)})
	if err != nil {
		return adapter.Answer{}, err
	}
	switch body.Data.Transaction.Status {
	case succeeded:
		return body.answer(t, payments.Success), nil
	case inProgress, ambiguous: // ambiguous: not decided yet
		return body.answer(t, payments.Pending), nil
	case expired:
		return body.answer(t, payments.Timeout), nil
	case failed:
		return body.answer(t, failure(body.Status.ResponseCode)), nil
	case "":
		return adapter.Answer{}, fmt.Errorf("the operator answered without a status (%s)", body.Status.ResultCode)
	}
	return adapter.Answer{}, errors.New("the operator answered with an unknown status")
}

// ask sends a request and decodes its answer. The answer has the same format for every HTTP status.
func (a *client) ask(ctx context.Context, t *payments.Transaction, r adapter.Request) (reply, error) {
	var body reply
	r.Header = map[string]string{"X-Country": string(t.Country), "X-Currency": adapter.CurrencyCode(t)}
	answer, err := a.Authorized(ctx, r, a.token)
	if err != nil {
		return body, err
	}
	if answer.Code >= 500 || answer.Code == http.StatusTooManyRequests {
		return body, answer.Unexpected()
	}
	if err := answer.Decode(&body); err != nil {
		return body, err
	}
	if !answer.OK() && (body.Status.Success || body.Data.Transaction.Status == succeeded) {
		return body, answer.Unexpected() // the HTTP status and the body contradict each other, so no money may move
	}
	return body, nil
}

func (a *client) token(ctx context.Context) (string, time.Duration, error) {
	answer, err := a.Do(ctx, adapter.Request{Method: http.MethodPost, Path: tokenPath, Body: struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		GrantType    string `json:"grant_type"`
	}{a.ClientID, a.ClientSecret, "client_credentials"}})
	if err != nil {
		return "", 0, err
	}
	return answer.Token()
}

// answer returns an answer whose payload combines Airtel's answer with the request.
func (r reply) answer(t *payments.Transaction, status payments.Status) adapter.Answer {
	p := NewPayload(t)
	id := r.id(t)
	p.Data.Transaction, p.Status = r.Data.Transaction.Result, r.Status
	p.Data.Transaction.ID = cmp.Or(id, t.ProviderTxID())
	return adapter.Answer{Status: status, NativeID: id, Raw: adapter.Encode(p)}
}

// id returns Airtel's id of the payment; "" if it has none yet. A stored id does not change. id ignores the id of the
// request, which Airtel's answers repeat (Documented).
func (r reply) id(t *payments.Transaction) string {
	given := r.Data.Transaction
	switch {
	case t.NativeID != "":
		return t.NativeID
	case given.AirtelMoneyID != "":
		return adapter.NativeID(given.AirtelMoneyID)
	case given.ID != adapter.RequestID(t):
		return adapter.NativeID(given.ID)
	}
	return ""
}

// failure returns the status for the response code of a failed payment (Documented, except 012: Assumed).
func failure(code string) payments.Status {
	switch code {
	case "DP00800001002":
		return payments.PINInvalid
	case "DP00800001003":
		return payments.LimitExceeded
	case "DP00800001005", "DP00800001008": // the payer entered no PIN, or refused
		return payments.UserCancelled
	case "DP00800001007":
		return payments.InsufficientFunds
	case "DP00800001010":
		return payments.AccountBlocked
	case "DP00800001012":
		return payments.UnknownMSISDN
	case "DP00800001024", "DP00800001029":
		return payments.Timeout
	}
	return payments.ServiceUnavailable
}
