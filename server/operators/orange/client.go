package orange

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// client is a client of WebPay under the country dev, which moves no real money (Documented). A collection is an order
// there. Its payer confirms it on Orange's page, with any number. Answers have no amount. Instead, each request has it,
// and Orange refuses an amount that is not the order's.
type client struct{ adapter.Connection }

const (
	tokenPath  = "/oauth/v3/token"
	payPath    = "/orange-money-webpay/" + dev + "/v1/webpayment"
	statusPath = "/orange-money-webpay/" + dev + "/v1/transactionstatus"
)

// mostOrders is the maximum number of orders of one collection. A collection needs another order if a worker dies
// before it has stored the token. Then the id of the first order is taken, but no payer can open that order.
const mostOrders = 9

// The error codes that the client handles.
const (
	duplicateOrder  = 1204
	tooManyRequests = 53
)

// paymentRequest is the body of a new order.
type paymentRequest struct {
	MerchantKey string `json:"merchant_key"`
	Currency    string `json:"currency"`
	OrderID     string `json:"order_id"`
	Amount      int64  `json:"amount"`
	ReturnURL   string `json:"return_url"`
	CancelURL   string `json:"cancel_url"`
	NotifURL    string `json:"notif_url"`
	Lang        string `json:"lang"`
	Reference   string `json:"reference"`
}

// NewClient returns a client of Orange's API.
func NewClient(a adapter.Access) adapter.Client { return &client{adapter.NewConnection(a)} }

// Collect implements [adapter.Client]. The payload of the answer has the page of the order, and the token that Ask
// needs.
func (o *client) Collect(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	if o.MerchantKey == "" {
		return adapter.Answer{}, adapter.ErrRefused{Reason: "the store's Secret has no key merchant_key, which the operator asks for"}
	}
	id := adapter.RequestID(t)
	for n := 2; ; n++ {
		reply, err := o.Authorized(ctx, adapter.Request{Method: http.MethodPost, Path: payPath, Body: o.order(t, id)}, o.token)
		if err != nil {
			return adapter.Answer{}, err
		}
		if reply.OK() {
			return opened(t, id, reply)
		}
		if err := failure(reply); codeOf(reply) != duplicateOrder || n > mostOrders {
			return adapter.Answer{}, err
		}
		id = fmt.Sprintf("%s-%d", adapter.RequestID(t), n)
	}
}

// order returns the request for an order. The payer's browser returns to the address of the merchant's order, or else
// to the operator's host. Cauri asks for the status, and needs no notification. So the notification goes to the
// operator's host too.
func (o *client) order(t *payments.Transaction, id string) paymentRequest {
	home := "/"
	if base, err := url.Parse(o.BaseURL); err == nil {
		home = (&url.URL{Scheme: base.Scheme, Host: base.Host, Path: "/"}).String()
	}
	shop := home
	if t.OrderURL != nil && !t.URLProtected && isURL(*t.OrderURL) {
		shop = *t.OrderURL
	}
	store := []rune(t.Store)
	return paymentRequest{
		MerchantKey: o.MerchantKey, Currency: devMoney, OrderID: id, Amount: t.Amount, ReturnURL: shop, CancelURL: shop, NotifURL: home,
		Lang: "fr", Reference: string(store[:min(len(store), maxReference)]),
	}
}

// opened returns the answer for an order that waits for its payer.
func opened(t *payments.Transaction, id string, reply adapter.Reply) (adapter.Answer, error) {
	var said struct {
		PayToken   string `json:"pay_token"`
		PaymentURL string `json:"payment_url"`
	}
	if err := reply.Decode(&said); err != nil {
		return adapter.Answer{}, err
	}
	if said.PayToken == "" || !operatorapi.IsText(said.PayToken, maxURL) || !isURL(said.PaymentURL) {
		return adapter.Answer{}, errors.New("the operator answered without a token and a page of the order")
	}
	p := NewPayload(t)
	p.PayToken, p.PaymentURL, p.OperatorOrderID = said.PayToken, said.PaymentURL, id
	return adapter.Answer{Status: payments.Pending, Raw: adapter.Encode(p)}, nil
}

// Ask implements [adapter.Client].
func (o *client) Ask(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	var kept Payload
	if json.Unmarshal(t.NativeRaw, &kept) != nil || kept.OperatorOrderID == "" {
		return adapter.Answer{}, errors.New("nothing is known of an order at the operator")
	}
	reply, err := o.Authorized(ctx, adapter.Request{Method: http.MethodPost, Path: statusPath, Body: struct {
		OrderID  string `json:"order_id"`
		Amount   int64  `json:"amount"`
		PayToken string `json:"pay_token"`
	}{kept.OperatorOrderID, t.Amount, kept.PayToken}}, o.token)
	if err != nil {
		return adapter.Answer{}, err
	}
	if !reply.OK() {
		return adapter.Answer{}, failure(reply)
	}
	var said struct {
		Status  string       `json:"status"`
		OrderID string       `json:"order_id"`
		TxnID   string       `json:"txnid"`
		Amount  *json.Number `json:"amount"` // in no documented answer
	}
	if err := reply.Decode(&said); err != nil {
		return adapter.Answer{}, err
	}
	if said.OrderID != kept.OperatorOrderID {
		return adapter.Answer{}, errors.New("the operator answered for another payment")
	}
	a, err := answered(t, said.Status, adapter.NativeID(said.TxnID))
	if err == nil && said.Amount != nil {
		a = a.Paid(t, said.Amount.String(), "", Unavailable)
	}
	return a, err
}

// answered returns the answer for a state of an order. The payload of an outcome has neither the page nor its token,
// because both end with the order.
func answered(t *payments.Transaction, state, txnID string) (adapter.Answer, error) {
	ended := *t
	ended.NativeID = cmp.Or(txnID, t.NativeID)
	a := adapter.Answer{NativeID: ended.NativeID}
	switch state {
	case initiated, pending:
		a.Status = payments.Pending
		return a, nil
	case success:
		a.Status = payments.Success
	case expired:
		a.Status = payments.Timeout
	case failed:
		a.Status = payments.ServiceUnavailable
		a.Raw = Unavailable(&ended, "the operator says that the payment failed, and gives no reason")
		return a, nil
	default:
		return adapter.Answer{}, errors.New("the operator answered with an unknown status")
	}
	ended.Status = a.Status
	a.Raw = Raw(&ended)
	return a, nil
}

// codeOf returns the code of an error of Orange; 0 if it has none.
func codeOf(reply adapter.Reply) int {
	var said apiError
	if reply.Decode(&said) != nil {
		return 0
	}
	return said.Code
}

// failure returns the error for an answer with a status other than 2xx.
func failure(reply adapter.Reply) error {
	code := codeOf(reply)
	passing := reply.Code < 400 || reply.Code >= 500 || reply.Code == http.StatusTooManyRequests || reply.Code == http.StatusRequestTimeout ||
		reply.Code == http.StatusNotFound || code == tooManyRequests
	if passing {
		return reply.Unexpected()
	}
	return adapter.ErrRefused{Reason: fmt.Sprintf("the operator refused the request (%d, code %d)", reply.Code, code)}
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
