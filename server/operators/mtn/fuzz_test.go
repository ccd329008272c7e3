package mtn

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
	"github.com/cauri-dev/cauri/server/payments"
)

func checkOrder(t *testing.T, o operatorapi.Order) {
	if o.Amount < 1 || o.Amount > payments.MaxAmount || !uuid4.MatchString(o.Reference) || o.MSISDN == "" || o.MSISDN[0] != '+' ||
		len([]rune(o.OrderRef)) > maxOrderRef || o.Description != nil && len([]rune(*o.Description)) > maxMessage {
		t.Errorf("it is recorded: %+v", o)
	}
	raw, err := json.Marshal(o.Sent)
	if err != nil {
		t.Fatal(err)
	}
	paid := &payments.Transaction{
		Details: payments.Details{MSISDN: o.MSISDN}, Type: payments.Collection, Status: payments.Success,
		Amount: o.Amount,
	}
	if _, err := statusBody(paid, raw, operatorapi.StatusView{}); err != nil {
		t.Error(err)
	}
}

func checkUser(t *testing.T, u operatorapi.User) {
	if !uuid4.MatchString(u.ID) || u.CallbackHost == "" || len(u.CallbackHost) > 253 {
		t.Errorf("it is made: %+v", u)
	}
}

// FuzzRequest sends any body with any headers to every call: API users, tokens, requests to pay and to withdraw,
// transfers, deposits, refunds, delivery notifications, and those without a body. Each call answers, or refuses as its
// description says.
func FuzzRequest(f *testing.F) {
	api := NewAPI()
	for _, route := range api.Routes {
		if route.Doc.Body != "" {
			f.Add([]byte(route.Doc.Body), "d6b1f4f2-6a2c-4c2e-9a3c-0b8f6f1f2a10", "sandbox", "https://shop.example/callback")
		}
	}
	f.Add([]byte(`{"amount": 5, "currency": "EUR", "payer": {"partyIdType": "msisdn", "partyId": "46733123450"}}`), "", "mtnrwanda", "")
	f.Add([]byte(`{"amount": "5.0", "currency": "EUR", "referenceIdToRefund": "13"}`), "d6b1f4f2-6a2c-4c2e-9a3c-1b8f6f1f2a11", "sandbox", "x")
	f.Add([]byte(`grant_type=client_credentials`), "13", "", "")
	f.Fuzz(func(t *testing.T, body []byte, reference, target, callback string) {
		header := http.Header{"X-Reference-Id": {reference}, "X-Target-Environment": {target}, "X-Callback-Url": {callback}}
		r := operatorapitest.Recorder{T: t, Check: checkOrder, User: checkUser, Sent: `{"currency": "RWF"}`}
		operatorapitest.CallAll(r, api, header, body, reference)
	})
}
