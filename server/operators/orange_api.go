package operators

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// orangeAPI is a client of Orange's core API, in a simple form: the paths and the place of the payload under data are t, that
// a payment is known by its order_id is a. Orange does not tell the currency of a payment.
type orangeAPI struct{ connection }

const (
	orangeTokenPath  = "/oauth/v3/token"
	orangePayPath    = "/omcoreapis/1.0.2/mp/pay"
	orangeStatusPath = "/omcoreapis/1.0.2/mp/paymentstatus/"
)

// orangeRequest is the body of a payment.
type orangeRequest struct {
	OrderID          string `json:"order_id"`
	SubscriberMSISDN string `json:"subscriber_msisdn"`
	Amount           int64  `json:"amount"`
	Currency         string `json:"currency"`
	Description      string `json:"description"`
}

// Collect implements [API].
func (o *orangeAPI) Collect(ctx context.Context, t *payments.Transaction) (Answer, error) {
	return o.ask(ctx, t, request{method: http.MethodPost, path: orangePayPath, body: orangeRequest{
		OrderID: requestID(t), SubscriberMSISDN: subscriber(t), Amount: t.Amount, Currency: currencyCode(t), Description: payerMessage(t),
	}})
}

// Ask implements [API].
func (o *orangeAPI) Ask(ctx context.Context, t *payments.Transaction) (Answer, error) {
	return o.ask(ctx, t, request{method: http.MethodGet, path: orangeStatusPath + requestID(t)})
}

func (o *orangeAPI) ask(ctx context.Context, t *payments.Transaction, r request) (Answer, error) {
	answer, err := o.authorized(ctx, r, o.token)
	if err != nil {
		return Answer{}, err
	}
	switch {
	case answer.code == http.StatusConflict:
		return orangeFailure(t, payments.DuplicateReference), nil
	case answer.code >= 500, answer.code == http.StatusTooManyRequests, answer.code == http.StatusNotFound:
		return Answer{}, answer.failed()
	case !answer.ok():
		return Answer{}, ErrRefused{fmt.Sprintf("the operator refused the request (%d)", answer.code)}
	}
	var said struct {
		Data *orangePayload `json:"data"`
	}
	if err := answer.into(&said); err != nil {
		return Answer{}, err
	}
	if said.Data == nil || said.Data.OrderID != requestID(t) {
		return Answer{}, errors.New("the operator answered for another payment")
	}
	return said.Data.answer(t)
}

// answer is what a payment's status and text say. The merchant sees its own reference.
func (p *orangePayload) answer(t *payments.Transaction) (Answer, error) {
	p.Simulated, p.OrderID = true, t.Reference
	a := Answer{NativeID: nativeID(p.TxnID), Raw: encode(p)}
	switch p.Status {
	case orangePending:
		a.Status = payments.Pending
	case orangeSuccessfull:
		a.Status = payments.Success
	case orangeExpired:
		a.Status = payments.Timeout
	case orangeFailed:
		a.Status = orangeStatus(p.ConfirmTxnMessage)
	default:
		return Answer{}, errors.New("the operator answered with an unknown status")
	}
	return a.paid(t, strconv.FormatInt(p.Amount, 10), ""), nil
}

// orangeStatus is the status that the text of a failure stands for.
func orangeStatus(text *string) payments.Status {
	for status, answer := range orangeAnswers {
		if text != nil && answer.status == orangeFailed && answer.message == *text {
			return status
		}
	}
	return payments.ServiceUnavailable
}

// orangeFailure is the answer for a payment that was refused when it was asked for.
func orangeFailure(t *payments.Transaction, status payments.Status) Answer {
	failed := *t
	failed.Status = status
	return Answer{Status: status, Raw: encode(newOrangePayload(&failed))}
}

func (o *orangeAPI) token(ctx context.Context) (string, time.Duration, error) {
	client := base64.StdEncoding.EncodeToString([]byte(o.ClientID + ":" + o.ClientSecret))
	answer, err := o.do(ctx, request{
		method: http.MethodPost, path: orangeTokenPath, header: map[string]string{"Authorization": "Basic " + client},
		body: url.Values{"grant_type": {"client_credentials"}},
	})
	if err != nil {
		return "", 0, err
	}
	return answer.token()
}
