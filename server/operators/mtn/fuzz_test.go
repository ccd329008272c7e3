package mtn

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// recorder is a sandbox that accepts everything, and checks what it is given. MTN calls no other method.
type recorder struct {
	operatorapi.Sandbox
	t *testing.T
}

func (recorder) Environments() []operatorapi.Environment {
	return []operatorapi.Environment{{Country: payments.Rwanda, Currency: payments.RWF}}
}

func (r recorder) record(_ context.Context, o operatorapi.Order) error {
	if o.Amount < 1 || o.Amount > maxAmount || !uuid4.MatchString(o.Reference) || o.MSISDN == "" || o.MSISDN[0] != '+' ||
		len([]rune(o.OrderRef)) > maxOrderRef || o.Description != nil && len([]rune(*o.Description)) > maxMessage {
		r.t.Errorf("it is recorded: %+v", o)
	}
	raw, err := json.Marshal(o.Sent)
	if err != nil {
		r.t.Fatal(err)
	}
	t := &payments.Transaction{Type: payments.Collection, Status: payments.Success, Amount: o.Amount, MSISDN: o.MSISDN}
	if _, err := statusBody(t, raw, operatorapi.Telling{}); err != nil {
		r.t.Error(err)
	}
	return nil
}

func (r recorder) Collect(ctx context.Context, o operatorapi.Order) error  { return r.record(ctx, o) }
func (r recorder) Disburse(ctx context.Context, o operatorapi.Order) error { return r.record(ctx, o) }
func (r recorder) Refund(ctx context.Context, o operatorapi.Order) error   { return r.record(ctx, o) }

func (recorder) Find(_ context.Context, reference string, operations ...string) (operatorapi.Payment, error) {
	if len(operations) != 1 || strings.Contains(reference, "0") {
		return operatorapi.Payment{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	t := &payments.Transaction{Type: payments.Collection, Status: payments.Success, Amount: 5, MSISDN: "+250788123456"}
	return operatorapi.Payment{Transaction: t, Operation: operations[0], Sent: json.RawMessage(`{"currency": "RWF"}`)}, nil
}

func (recorder) FindCollection(_ context.Context, reference string) (*payments.Transaction, error) {
	if len(reference) < 3 {
		return nil, operatorapi.Refuse(operatorapi.NotFound)
	}
	return &payments.Transaction{Reference: reference, MSISDN: "+250788123456"}, nil
}
func (recorder) Balance(context.Context, payments.Currency) (int64, error) { return 1, nil }
func (recorder) Holder(context.Context, operatorapi.Environment, string) (operatorapi.Holder, error) {
	return operatorapi.Holder{}, nil
}
func (recorder) MayCall(string) bool { return true }
func (recorder) IssueToken(context.Context, string, string, operatorapi.User, time.Duration) error {
	return nil
}

func (r recorder) AddUser(_ context.Context, u operatorapi.User) error {
	if !uuid4.MatchString(u.ID) || u.CallbackHost == "" || len(u.CallbackHost) > 253 {
		r.t.Errorf("it is made: %+v", u)
	}
	return nil
}
func (recorder) SetPassword(context.Context, string, string) error { return nil }
func (recorder) FindUser(context.Context, string) (operatorapi.User, error) {
	return operatorapi.User{}, operatorapi.Refuse(operatorapi.NotFound)
}
func (recorder) Now(context.Context) (time.Time, error) {
	return time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC), nil
}
func (recorder) Text() (string, error) { return "0123456789abcdef0123456789abcdef", nil }

// FuzzRequest sends any body with any headers to every call: API users, tokens, requests to pay and to withdraw, transfers, deposits,
// refunds, delivery notifications, and those without a body. Each answers, or refuses in MTN's words with what its description has.
func FuzzRequest(f *testing.F) {
	api := NewAPI()
	for _, route := range api.Routes {
		if route.Doc.Body != "" {
			f.Add([]byte(route.Doc.Body), "d6b1f4f2-6a2c-4c2e-9a3c-0b8f6f1f2a10", "sandbox", "https://shop.example/callback")
		}
	}
	f.Add([]byte(`{"amount": 5, "currency": "EUR", "payer": {"partyIdType": "msisdn", "partyId": "46733123450"}}`), "", "mtnrwanda", "")
	f.Add([]byte(`{"amount": "5.0", "currency": "EUR", "referenceIdToRefund": "13"}`), "d6b1f4f2-6a2c-4c2e-9a3c-0b8f6f1f2a11", "sandbox", "x")
	f.Add([]byte(`grant_type=client_credentials`), "13", "", "")
	f.Fuzz(func(t *testing.T, body []byte, reference, target, callback string) {
		header := http.Header{"X-Reference-Id": {reference}, "X-Target-Environment": {target}, "X-Callback-Url": {callback}}
		for i := range api.Routes {
			route := &api.Routes[i]
			param := func(name string) string {
				if strings.Contains(route.Path, "{"+name+"}") {
					return reference
				}
				return ""
			}
			r := operatorapi.Request{Header: header, Body: body, Param: param, Product: route.Product}
			answer, err := route.Handle(t.Context(), recorder{t: t}, &r)
			var refusal *operatorapi.Refusal
			switch {
			case errors.As(err, &refusal):
				if !slices.Contains(api.Refusals(route), refusal.Why) {
					t.Errorf("%s %s refuses for %s, which its description does not have", route.Method, route.Path, refusal.Why)
				}
			case err != nil:
				t.Errorf("%s %s: %v", route.Method, route.Path, err)
			case answer.Status != route.Doc.Status || (answer.Body == nil) != (route.Doc.Answer == ""):
				t.Errorf("%s %s answers %d %v", route.Method, route.Path, answer.Status, answer.Body)
			}
		}
	})
}
