package mpesa

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// client is a client of M-Pesa Express (Documented). A collection is a push there, and its query tells neither amount nor
// receipt.
//
// Safaricom makes the id of a push, CheckoutRequestID, and has no key by which a push without it can be found. So a push
// whose answer is lost is never sent again: the payer could pay twice.
type client struct{ adapter.Connection }

const (
	pushPath  = "/mpesa/stkpush/v1/processrequest"
	queryPath = "/mpesa/stkpushquery/v1/query"

	badTokenCode = "404.001.03"
	quotaCode    = "500.003.03"
)

// The numbers of characters that Safaricom documents for texts of a push.
const (
	longestReference   = 12
	longestDescription = 13
)

// pushRequest is the body of a push.
type pushRequest struct {
	signedRequest
	TransactionType  string `json:"TransactionType"`
	Amount           int64  `json:"Amount"`
	PartyA           string `json:"PartyA"`
	PartyB           string `json:"PartyB"`
	PhoneNumber      string `json:"PhoneNumber"`
	CallBackURL      string `json:"CallBackURL"`
	AccountReference string `json:"AccountReference"`
	TransactionDesc  string `json:"TransactionDesc"`
}

// signedRequest are the fields that a push and its query have.
type signedRequest struct {
	BusinessShortCode string `json:"BusinessShortCode"`
	Password          string `json:"Password"`
	Timestamp         string `json:"Timestamp"`
}

// said is an answer to a push or to a query. An error may come with the HTTP status 200 (Documented).
type said struct {
	MerchantRequestID string `json:"MerchantRequestID"`
	CheckoutRequestID string `json:"CheckoutRequestID"`
	ResponseCode      text   `json:"ResponseCode"`
	ResultCode        text   `json:"ResultCode"`
	ResultDesc        string `json:"ResultDesc"`
	ErrorCode         string `json:"errorCode"`
	ErrorMessage      string `json:"errorMessage"`
}

// NewClient returns a client of M-Pesa's API.
func NewClient(a adapter.Access) adapter.Client {
	c := adapter.NewConnection(a)
	c.RefusesToken = func(r adapter.Reply) bool {
		var answer apiError
		return r.Code == http.StatusNotFound && json.Unmarshal(r.Body, &answer) == nil && answer.ErrorCode == badTokenCode
	}
	return &client{c}
}

// Collect implements [adapter.Client]. The payload of the answer has the CheckoutRequestID, which Ask needs.
func (c *client) Collect(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	for _, key := range []struct{ name, value string }{{"short_code", c.ShortCode}, {"passkey", c.Passkey}} {
		if key.value == "" {
			return adapter.Answer{}, adapter.ErrRefused{Reason: "the store's Secret has no key " + key.name + ", which the operator asks for"}
		}
	}
	noToken := false
	reply, err := c.Authorized(ctx, adapter.Request{Method: http.MethodPost, Path: pushPath, Body: c.push(t)},
		func(ctx context.Context) (string, time.Duration, error) {
			text, valid, err := c.token(ctx)
			noToken = err != nil
			return text, valid, err
		})
	switch {
	case err != nil && (noToken || neverSent(err)):
		return adapter.Answer{}, err
	case err != nil:
		return adapter.Answer{}, lost(err)
	}
	return pushed(t, reply)
}

// neverSent reports whether an error says that a request did not reach the operator.
func neverSent(err error) bool {
	var failed *net.OpError
	return errors.As(err, new(adapter.ErrRefused)) || errors.As(err, &failed) && failed.Op == "dial"
}

// lost returns the error for a push that may ring, although nothing is known of it.
func lost(err error) error {
	return adapter.ErrRefused{Reason: fmt.Sprintf("%s: the push may ring, and was not sent again", err)}
}

// push returns the request for a push. Cauri asks for the state, and needs no callback. So the callback goes to the
// operator's host.
func (c *client) push(t *payments.Transaction) pushRequest {
	home := c.BaseURL
	if base, err := url.Parse(c.BaseURL); err == nil {
		home = (&url.URL{Scheme: base.Scheme, Host: base.Host, Path: "/"}).String()
	}
	number := adapter.Subscriber(t)
	return pushRequest{
		signedRequest: c.signed(), TransactionType: payBill, Amount: t.Amount, PartyA: number, PartyB: c.ShortCode, PhoneNumber: number,
		CallBackURL: home, AccountReference: cut(t.Reference, longestReference),
		TransactionDesc: cut(adapter.PayerMessage(t), longestDescription),
	}
}

// signed returns the fields that identify the merchant. The time is Nairobi's.
func (c *client) signed() signedRequest {
	at := c.Tokens.Now().In(nairobi).Format(timestamp)
	return signedRequest{c.ShortCode, base64.StdEncoding.EncodeToString([]byte(c.ShortCode + c.Passkey + at)), at}
}

// cut returns the beginning of a text, of at most n characters.
func cut(text string, n int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), n)])
}

// pushed returns the answer for a reply to a push.
func pushed(t *payments.Transaction, reply adapter.Reply) (adapter.Answer, error) {
	var answer said
	err := reply.Decode(&answer)
	switch {
	case reply.Code == http.StatusTooManyRequests, reply.Code == http.StatusServiceUnavailable, answer.ErrorCode == gatewayBusy,
		answer.ErrorCode == quotaCode: // the gateway did not let it through
		return adapter.Answer{}, reply.Unexpected()
	case answer.ErrorCode == gatewayFailed, answer.ErrorCode == "" && reply.Code >= http.StatusInternalServerError, reply.OK() && err != nil:
		return adapter.Answer{}, lost(reply.Unexpected())
	case !reply.OK() || answer.ErrorCode != "" || answer.ResponseCode != "0":
		return adapter.Answer{}, adapter.ErrRefused{Reason: fmt.Sprintf("the operator refused the request (%d %.40q %.100q)", reply.Code,
			answer.ErrorCode, answer.ErrorMessage)}
	case adapter.NativeID(answer.CheckoutRequestID) == "":
		return adapter.Answer{}, lost(errors.New("the operator answered without a CheckoutRequestID"))
	}
	p := NewPayload(adapter.Ended(t, payments.Pending))
	p.MerchantRequestID, p.CheckoutRequestID = adapter.NativeID(answer.MerchantRequestID), answer.CheckoutRequestID
	return adapter.Answer{Status: payments.Pending, NativeID: answer.CheckoutRequestID, Raw: adapter.Encode(p)}, nil
}

// Ask implements [adapter.Client].
func (c *client) Ask(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	var kept Push
	if json.Unmarshal(t.NativeRaw, &kept) != nil || kept.CheckoutRequestID == "" {
		return adapter.Answer{}, errors.New("nothing is known of a push at the operator")
	}
	reply, err := c.Authorized(ctx, adapter.Request{Method: http.MethodPost, Path: queryPath, Body: struct {
		signedRequest
		CheckoutRequestID string `json:"CheckoutRequestID"`
	}{c.signed(), kept.CheckoutRequestID}}, c.token)
	if err != nil {
		return adapter.Answer{}, err
	}
	var answer said
	if err := reply.Decode(&answer); err != nil {
		return adapter.Answer{}, err
	}
	switch {
	case !reply.OK() || answer.ErrorCode != "": // it says nothing of the push, not even 500.001.1001 (Documented)
		return adapter.Answer{}, fmt.Errorf("the operator answered %d %.40q", reply.Code, answer.ErrorCode)
	case answer.CheckoutRequestID != kept.CheckoutRequestID:
		return adapter.Answer{}, errors.New("the operator answered for another payment")
	case answer.ResultCode == "":
		return adapter.Answer{}, errors.New("the operator answered without a result")
	}
	status := statusOf(string(answer.ResultCode))
	return adapter.Answer{Status: status, NativeID: kept.CheckoutRequestID, Raw: queriedRaw(t, kept, answer, status)}, nil
}

// queriedRaw returns the payload for the answer to a query. It has no receipt, because the query does not tell it.
func queriedRaw(t *payments.Transaction, kept Push, answer said, status payments.Status) json.RawMessage {
	p := NewPayload(adapter.Ended(t, status))
	p.MerchantRequestID, p.CheckoutRequestID = kept.MerchantRequestID, kept.CheckoutRequestID
	p.ResultCode = asNumber(string(answer.ResultCode))
	if operatorapi.IsText(answer.ResultDesc, maxDescription) {
		p.ResultDesc = answer.ResultDesc
	}
	if status == payments.Success {
		p.CallbackMetadata = &Metadata{[]Item{
			{"Amount", shillings(t.Amount)}, {"PhoneNumber", json.Number(adapter.Subscriber(t))},
		}}
	}
	return adapter.Encode(p)
}

// statusOf returns the status for the result code of a query.
func statusOf(code string) payments.Status {
	switch code {
	case "0":
		return payments.Success
	case "4999":
		return payments.Pending
	case "1":
		return payments.InsufficientFunds
	case "2", "3", "4", "8", "17":
		return payments.LimitExceeded
	case "1019", "1031", "1037":
		return payments.Timeout
	case "1032":
		return payments.UserCancelled
	case "2001":
		return payments.PINInvalid
	case "8006":
		return payments.AccountBlocked
	}
	return payments.ServiceUnavailable
}

func (c *client) token(ctx context.Context) (string, time.Duration, error) {
	user := base64.StdEncoding.EncodeToString([]byte(c.ClientID + ":" + c.ClientSecret))
	answer, err := c.Do(ctx, adapter.Request{
		Method: http.MethodGet, Path: tokenPath + "?grant_type=client_credentials", Header: map[string]string{"Authorization": "Basic " + user},
	})
	if err != nil {
		return "", 0, err
	}
	return answer.Token()
}
