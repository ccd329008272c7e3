package mpesa

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
	"github.com/cauri-dev/cauri/server/payments"
)

// inKenya is the sandbox of the fuzz target.
var inKenya = []operatorapi.Environment{{Country: "KE", Currency: "KES"}}

func checkOrder(t *testing.T, o operatorapi.Order) {
	hasNumber := len(o.MSISDN) == 13 && strings.HasPrefix(o.MSISDN, "+254") || o.Operation == reversalCall
	if o.Amount < 1 || o.Amount > payments.MaxAmount || !hasNumber || o.Reference == "" || len([]rune(o.Reference)) > 80 ||
		len([]rune(o.OrderRef)) > 120 {
		t.Errorf("it is recorded: %+v", o)
	}
	raw, err := json.Marshal(o.Sent)
	if err != nil {
		t.Fatal(err)
	}
	paid := &payments.Transaction{
		Details: payments.Details{Reference: o.Reference, MSISDN: o.MSISDN}, Type: payments.Collection,
		Status: payments.Success, Amount: o.Amount,
		NativeCall: o.Operation, CreatedAt: time.Date(2026, 11, 28, 7, 15, 0, 0, time.UTC),
	}
	types := map[string]payments.Type{
		"": payments.Collection, confirmationKind: payments.Collection, resultKind: payments.Disbursement,
	}
	if o.Operation == reversalCall {
		types = map[string]payments.Type{resultKind: payments.Refund}
	}
	for kind, of := range types {
		paid.Type = of
		if body := newCallback(paid, raw, operatorapi.StatusView{Kind: kind}).Body; !json.Valid(body) {
			t.Errorf("the callback is %s", body)
		}
	}
}

// checkCode checks a QR code, and that the merchant can see it.
func checkCode(t *testing.T, o operatorapi.Checkout) {
	raw, err := json.Marshal(o.Sent)
	if err != nil {
		t.Fatal(err)
	}
	o.Sent = json.RawMessage(raw)
	v, err := viewOf(o)
	if err != nil || v.Token != o.Token || v.Title == "" || len([]rune(v.Title)) > maxReference ||
		o.Amount < 1 || o.Amount > payments.MaxAmount ||
		o.Reference == "" || o.Lifetime != codeLifetime {
		t.Errorf("a code is %+v, seen as %+v, %v", o, v, err)
	}
}

// FuzzRequest sends any body with any content type to every call. Each call answers, or refuses as its description says.
func FuzzRequest(f *testing.F) {
	api := NewAPI()
	for _, route := range api.Routes {
		if route.Doc.Body != "" {
			f.Add(strings.ReplaceAll(route.Doc.Body, exampleShortCode, publicShortCode), "client_credentials", "application/json")
		}
	}
	f.Add("{}", "", "")
	f.Add(`{"BusinessShortCode":174379,"Amount":1.0}`, `"`, "text/plain")
	f.Fuzz(func(t *testing.T, body, text, kind string) {
		r := operatorapitest.Recorder{T: t, Check: checkOrder, OnCheckout: checkCode, Sent: "{}", In: inKenya}
		operatorapitest.CallAll(r, api, http.Header{"Content-Type": {kind}}, []byte(body), text)
	})
}
