package operators

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

// mtnAPI is a client of the collections of MTN's Open API (o).
type mtnAPI struct{ connection }

const (
	mtnTokenPath        = "/collection/token/"
	mtnRequestToPayPath = "/collection/v1_0/requesttopay"
)

// mtnRequest is the body of a request to pay.
type mtnRequest struct {
	Amount       string   `json:"amount"`
	Currency     string   `json:"currency"`
	ExternalID   string   `json:"externalId"`
	Payer        mtnParty `json:"payer"`
	PayerMessage string   `json:"payerMessage"`
	PayeeNote    string   `json:"payeeNote"`
}

// mtnError is how MTN says what is wrong with a request.
type mtnError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Collect implements [API].
func (m *mtnAPI) Collect(ctx context.Context, t *payments.Transaction) (Answer, error) {
	answer, err := m.authorized(ctx, request{
		method: http.MethodPost, path: mtnRequestToPayPath, header: m.header(map[string]string{"X-Reference-Id": mtnReferenceID(t.ID)}),
		body: mtnRequest{
			Amount: strconv.FormatInt(t.Amount, 10), Currency: currencyCode(t), ExternalID: t.Reference,
			Payer: mtnParty{"MSISDN", subscriber(t)}, PayerMessage: payerMessage(t), PayeeNote: t.Reference,
		},
	}, m.token)
	switch {
	case err != nil:
		return Answer{}, err
	case answer.ok():
		return Answer{Status: payments.Pending}, nil
	case answer.code == http.StatusConflict:
		return mtnFailure(t, "RESOURCE_ALREADY_EXIST"), nil
	case answer.code >= 500, answer.code == http.StatusTooManyRequests, answer.code == http.StatusRequestTimeout:
		return Answer{}, answer.failed()
	}
	var refusal mtnError
	_ = json.Unmarshal(answer.body, &refusal) // MTN often says nothing
	if mtnStatus(refusal.Code) != payments.ServiceUnavailable {
		return mtnFailure(t, refusal.Code), nil
	}
	return Answer{}, ErrRefused{fmt.Sprintf("the operator refused the request (%d %s)", answer.code, refusal.Code)}
}

// Ask implements [API].
func (m *mtnAPI) Ask(ctx context.Context, t *payments.Transaction) (Answer, error) {
	answer, err := m.authorized(ctx, request{
		method: http.MethodGet, path: mtnRequestToPayPath + "/" + mtnReferenceID(t.ID), header: m.header(nil),
	}, m.token)
	if err != nil {
		return Answer{}, err
	}
	if !answer.ok() {
		return Answer{}, answer.failed()
	}
	var said struct {
		mtnPayload
		Reason json.RawMessage `json:"reason"` // a text, or an object with a code
	}
	if err := answer.into(&said); err != nil {
		return Answer{}, err
	}
	p := said.mtnPayload
	p.Simulated, p.Reason = true, mtnReasonText(said.Reason)
	a := Answer{NativeID: nativeID(p.FinancialTransactionID), Raw: encode(p)}
	switch p.Status {
	case mtnPending:
		a.Status = payments.Pending
	case mtnSuccessful:
		a.Status = payments.Success
	case mtnFailed:
		a.Status = mtnStatus(p.Reason)
	default:
		return Answer{}, fmt.Errorf("the operator answered with an unknown status")
	}
	return a.paid(t, p.Amount, p.Currency), nil
}

func (m *mtnAPI) token(ctx context.Context) (string, time.Duration, error) {
	user := base64.StdEncoding.EncodeToString([]byte(m.ClientID + ":" + m.ClientSecret))
	answer, err := m.do(ctx, request{method: http.MethodPost, path: mtnTokenPath, header: m.header(map[string]string{"Authorization": "Basic " + user})})
	if err != nil {
		return "", 0, err
	}
	return answer.token()
}

func (m *mtnAPI) header(header map[string]string) map[string]string {
	all := map[string]string{"X-Target-Environment": "sandbox", "Ocp-Apim-Subscription-Key": m.SubscriptionKey}
	for name, value := range header {
		all[name] = value
	}
	return all
}

// mtnReferenceID is the id that MTN knows a payment by. It follows from the transaction, so that a repeated request is known
// for what it is, and has the form of a random UUID, which MTN asks for.
func mtnReferenceID(id payments.ID) string {
	digest := sha256.Sum256(append([]byte("mtn reference:"), id[:]...))
	digest[6] = digest[6]&0x0f | 0x40 // version 4
	digest[8] = digest[8]&0x3f | 0x80 // variant of RFC 9562
	return fmt.Sprintf("%x-%x-%x-%x-%x", digest[0:4], digest[4:6], digest[6:8], digest[8:10], digest[10:16])
}

// mtnFailure is the answer for a payment that was refused when it was asked for.
func mtnFailure(t *payments.Transaction, reason string) Answer {
	failed := *t
	failed.Status = mtnStatus(reason)
	p := newMTNPayload(&failed)
	p.Reason = reason
	return Answer{Status: failed.Status, Raw: encode(p)}
}

// mtnStatus is the status that a reason stands for. APPROVAL_REJECTED is the payer's refusal.
func mtnStatus(reason string) payments.Status {
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

// mtnReasonText reads a reason.
func mtnReasonText(reason json.RawMessage) string {
	var text string
	if json.Unmarshal(reason, &text) == nil {
		return text
	}
	var said mtnError
	_ = json.Unmarshal(reason, &said)
	return said.Code
}
