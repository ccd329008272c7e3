package orange

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/payments"
)

// client is a simple client of Orange's core API. The paths and the payload under data have the mark t, and the look-up
// by order_id has the mark a, see package operators. Orange does not report the currency of a payment.
type client struct{ adapter.Connection }

const (
	tokenPath  = "/oauth/v3/token"
	payPath    = "/omcoreapis/1.0.2/mp/pay"
	statusPath = "/omcoreapis/1.0.2/mp/paymentstatus/"
)

// paymentRequest is the body of a payment.
type paymentRequest struct {
	OrderID          string `json:"order_id"`
	SubscriberMSISDN string `json:"subscriber_msisdn"`
	Amount           int64  `json:"amount"`
	Currency         string `json:"currency"`
	Description      string `json:"description"`
}

// NewClient returns a client of Orange's API.
func NewClient(a adapter.Access) adapter.Client { return &client{adapter.NewConnection(a)} }

// Collect implements [adapter.Client].
func (o *client) Collect(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	return o.ask(ctx, t, adapter.Request{Method: http.MethodPost, Path: payPath, Body: paymentRequest{
		OrderID: adapter.RequestID(t), SubscriberMSISDN: adapter.Subscriber(t), Amount: t.Amount, Currency: adapter.CurrencyCode(t),
		Description: adapter.PayerMessage(t),
	}})
}

// Ask implements [adapter.Client].
func (o *client) Ask(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	return o.ask(ctx, t, adapter.Request{Method: http.MethodGet, Path: statusPath + adapter.RequestID(t)})
}

func (o *client) ask(ctx context.Context, t *payments.Transaction, r adapter.Request) (adapter.Answer, error) {
	answer, err := o.Authorized(ctx, r, o.token)
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
	var said struct {
		Data *Payload `json:"data"`
	}
	if err := answer.Decode(&said); err != nil {
		return adapter.Answer{}, err
	}
	if said.Data == nil || said.Data.OrderID != adapter.RequestID(t) {
		return adapter.Answer{}, errors.New("the operator answered for another payment")
	}
	return said.Data.answer(t)
}

// answer returns the answer for the status and the text of a payment. It replaces the id in the payload by the
// merchant's reference.
func (p *Payload) answer(t *payments.Transaction) (adapter.Answer, error) {
	p.Simulated, p.OrderID = true, t.Reference
	a := adapter.Answer{NativeID: adapter.NativeID(p.TxnID), Raw: adapter.Encode(p)}
	switch p.Status {
	case pending:
		a.Status = payments.Pending
	case successfull:
		a.Status = payments.Success
	case expired:
		a.Status = payments.Timeout
	case failed:
		a.Status = statusOf(p.ConfirmTxnMessage)
	default:
		return adapter.Answer{}, errors.New("the operator answered with an unknown status")
	}
	return a.Paid(t, strconv.FormatInt(p.Amount, 10), "", Unavailable), nil
}

// statusOf returns the status for the text of a failure.
func statusOf(text *string) payments.Status {
	for status, answer := range answers {
		if text != nil && answer.status == failed && answer.message == *text {
			return status
		}
	}
	return payments.ServiceUnavailable
}

// failure returns the answer for a payment that Orange refused at once.
func failure(t *payments.Transaction, status payments.Status) adapter.Answer {
	return adapter.Answer{Status: status, Raw: adapter.Encode(NewPayload(adapter.Ended(t, status)))}
}

func (o *client) token(ctx context.Context) (string, time.Duration, error) {
	client := base64.StdEncoding.EncodeToString([]byte(o.ClientID + ":" + o.ClientSecret))
	answer, err := o.Do(ctx, adapter.Request{
		Method: http.MethodPost, Path: tokenPath, Header: map[string]string{"Authorization": "Basic " + client},
		Body: url.Values{"grant_type": {"client_credentials"}},
	})
	if err != nil {
		return "", 0, err
	}
	return answer.Token()
}
