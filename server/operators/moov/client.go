package moov

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// client is a client of Moov's API: the SOAP of Benin, and the JSON of Togo (ThirdParty).
type client struct{ adapter.Connection }

// NewClient returns a client of Moov's API.
func NewClient(a adapter.Access) adapter.Client { return &client{adapter.NewConnection(a)} }

// Collect implements [adapter.Client].
func (m *client) Collect(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	amount, id := amountIn(t), adapter.RequestID(t)
	switch t.Country {
	case payments.Benin:
		return m.call(ctx, t, pushPendingCall, values{
			"msisdn": adapter.Subscriber(t), "message": adapter.PayerMessage(t), "amount": amount, "externaldata1": id, "externaldata2": id, "fee": "0",
		})
	case payments.Togo:
		return m.send(ctx, t, debitPaths[0][0], map[string]string{
			"msisdn": adapter.Subscriber(t), "key": m.ClientID, "mrchrefid": id, "mrchname": t.Store, "amount": amount, "partnermsisdn": "",
		})
	}
	return adapter.Answer{}, adapter.ErrRefused{Reason: "nothing is known about the API of Moov in " + string(t.Country)}
}

// Ask implements [adapter.Client].
func (m *client) Ask(ctx context.Context, t *payments.Transaction) (adapter.Answer, error) {
	if t.Country == payments.Benin {
		return m.call(ctx, t, "getTransactionStatus", values{"transid": adapter.RequestID(t)})
	}
	return m.send(ctx, t, debitPaths[0][1], map[string]string{"mrchrefid": adapter.RequestID(t), "partnermsisdn": ""})
}

func (m *client) token() string { return newToken("0", m.ClientID, m.ClientSecret) }

// call makes a call to the SOAP service.
func (m *client) call(ctx context.Context, t *payments.Transaction, name string, v values) (adapter.Answer, error) {
	v["token"] = m.token()
	reply, err := m.Do(ctx, adapter.Request{Method: http.MethodPost, Path: soapPath, Body: adapter.XML(requestOf(name, v))})
	if err != nil {
		return adapter.Answer{}, err
	}
	said, err := readCall(reply.Body)
	switch {
	case !reply.OK():
		return adapter.Answer{}, reply.Unexpected()
	case err != nil || said.operation != name+"Response":
		return adapter.Answer{}, fmt.Errorf("the operator answered %d with what cannot be read", reply.Code)
	}
	f := said.fields
	if id := f["transid"]; id != "" && id != adapter.RequestID(t) {
		return adapter.Answer{}, errors.New("the operator answered for another payment")
	}
	return answerOf(t, f["status"], f["description"], f["referenceid"])
}

// requestOf returns the envelope of a request.
func requestOf(name string, v values) string {
	var fields strings.Builder
	o := operationNamed(name)
	for _, field := range o.request {
		fmt.Fprintf(&fields, "<%s>%s</%[1]s>", field, escaped(v[field]))
	}
	inside := fields.String()
	if o.inside {
		inside = "<request>" + inside + "</request>"
	}
	call := fmt.Sprintf(`<api:%s xmlns:api="%s"><token>%s</token>%s</api:%[1]s>`, name, merchantName, escaped(v["token"]), inside)
	return envelope(call).Text
}

// send makes a call to the JSON API.
func (m *client) send(ctx context.Context, t *payments.Transaction, path string, body map[string]string) (adapter.Answer, error) {
	reply, err := m.Do(ctx, adapter.Request{
		Method: http.MethodPost, Path: path, Body: body, Header: map[string]string{authorization: m.token()},
	})
	if err != nil {
		return adapter.Answer{}, err
	}
	switch {
	case reply.Code == http.StatusTooManyRequests, reply.Code == http.StatusNotFound, reply.Code >= 500, reply.Code < 400 && !reply.OK():
		return adapter.Answer{}, reply.Unexpected()
	case !reply.OK():
		return adapter.Answer{}, adapter.ErrRefused{Reason: fmt.Sprintf("the operator refused the request (%d)", reply.Code)}
	}
	var said debitAnswer
	if err := reply.Decode(&said); err != nil {
		return adapter.Answer{}, err
	}
	asked := path == debitPaths[0][1]
	switch {
	case asked && said.Details == nil && said.Code == refusals[operatorapi.NotFound].togo:
		return adapter.Answer{}, reply.Unexpected()
	case said.Details != nil && said.Details.MrchReference != adapter.RequestID(t):
		return adapter.Answer{}, errors.New("the operator answered for another payment")
	case said.Code == completed && !asked:
		said.Code = validation // accepted, but not paid yet
	}
	a, err := answerOf(t, togoCodes[said.Code], said.Message, said.RefID)
	if err == nil && asked && said.Details != nil {
		a = a.Paid(t, said.Details.Amount, "", Unavailable)
	}
	return a, err
}

// togoCodes are the statuses of Benin for the codes of Togo. The text of the answer says why a payment failed.
var togoCodes = map[string]string{
	completed: completed, "8": inPending, validation: inPending, notDone: failedCode, "100": failedCode, "4": duplicateCode,
	"1": "91", "3": "91", "5": "2", "99": codeOfCredentials,
}

const (
	codeOfCredentials = "98"
	duplicateCode     = "duplicate" // no status of Benin; only Togo has a code for it
)

// statuses are Cauri's statuses for the statuses of Benin. If one of Benin's has several meanings, the text of the
// answer decides.
var statuses = map[string]payments.Status{
	completed: payments.Success, inPending: payments.Pending, payerFunds: payments.InsufficientFunds, "7": payments.AccountBlocked,
	"9": payments.AccountBlocked, "3": payments.UnknownMSISDN, "555": payments.UnknownMSISDN, "92": payments.Timeout,
	failedCode: payments.ServiceUnavailable, "99": payments.ServiceUnavailable, duplicateCode: payments.DuplicateReference,
}

// limits are the statuses of Benin for amounts and limits.
const limits = " 11 12 13 14 15 16 17 18 19 20 "

// answerOf returns the answer for a status of Benin. It returns an error if the operator refused the request, or if the
// status is unknown.
func answerOf(t *payments.Transaction, code, text, reference string) (adapter.Answer, error) {
	status, known := statuses[code]
	if code == "92" || code == failedCode {
		for s, a := range answers {
			if a.message == text && s != payments.Success && s != payments.Pending {
				status = s
			}
		}
		if text == refusals[operatorapi.Duplicate].text {
			status = payments.DuplicateReference
		}
	}
	switch {
	case strings.Contains(limits, " "+code+" "):
		status = payments.LimitExceeded
	case code == codeOfCredentials:
		return adapter.Answer{}, adapter.ErrRefused{Reason: "the operator refused the credentials (" + code + ")"}
	case code == "1", code == "2", code == "4", code == "91":
		return adapter.Answer{}, adapter.ErrRefused{Reason: "the operator refused the request (" + code + ")"}
	case !known:
		return adapter.Answer{}, errors.New("the operator answered with an unknown code")
	}
	p := NewPayload(adapter.Ended(t, status))
	a := adapter.Answer{Status: status, NativeID: adapter.NativeID(reference)}
	if a.NativeID != "" {
		p.TransactionID = a.NativeID
	}
	a.Raw = adapter.Encode(p)
	return a, nil
}
