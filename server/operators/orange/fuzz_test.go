package orange

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
	"github.com/cauri-dev/cauri/server/payments"
)

func checkCheckout(t *testing.T, o operatorapi.Checkout) {
	var of checkoutSent
	text, err := json.Marshal(o.Sent)
	if err != nil || json.Unmarshal(text, &of) != nil {
		t.Fatalf("it is kept as %s: %v", text, err)
	}
	if o.Amount < 1 || o.Amount > payments.MaxAmount || o.Reference == "" || len([]rune(o.Reference)) > maxOrderID || len(o.Token) != 64 {
		t.Errorf("it is opened: %+v", o)
	}
	for _, address := range []string{of.ReturnURL, of.CancelURL, of.NotifURL} {
		if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("a browser would go to %q", address)
		}
	}
}

// FuzzRequest sends any body to every call. Each call answers, or refuses as its description says.
func FuzzRequest(f *testing.F) {
	api := NewAPI()
	for _, route := range api.Routes {
		f.Add(route.Doc.Body, "dev")
	}
	f.Add("grant_type=client_credentials", "rw")
	f.Add(`{"merchant_key":"k","currency":"RWF","order_id":"x","amount":"5.0","return_url":"http://a","cancel_url":"http://b","notif_url":"http://c"}`, "rw")
	f.Fuzz(func(t *testing.T, body, country string) {
		r := operatorapitest.Recorder{T: t, OnCheckout: checkCheckout, Sent: `{"notif_token":""}`}
		operatorapitest.CallAll(r, api, http.Header{}, []byte(body), country)
	})
}

// FuzzPage sends any form to the page of an order with any merchant. Only a number in E.164 is recorded, and the page
// escapes the texts that it shows.
func FuzzPage(f *testing.F) {
	f.Add("0707000001", "123456", "confirm", "Boutique")
	f.Add("+225 07 07 00 00 01", "123 456", "cancel", "<b>&\"'")
	f.Add("<script>", "", "", "</bdi><script>alert(1)</script>")
	f.Fuzz(func(t *testing.T, msisdn, code, action, merchant string) {
		kept, err := json.Marshal(checkoutSent{
			Country: payments.CoteDIvoire, Currency: payments.XOF, Money: devMoney, Merchant: merchant, ReturnURL: "https://shop.example/",
			CancelURL: "https://shop.example/cancel", NotifToken: "another",
		})
		if err != nil {
			t.Fatal(err)
		}
		r := operatorapitest.Recorder{T: t, Sent: string(kept), Check: func(t *testing.T, o operatorapi.Order) {
			if !payments.ValidMSISDN(o.MSISDN) || o.Amount != 5 {
				t.Errorf("it is recorded: %+v", o)
			}
		}}
		order := operatorapi.Checkout{Reference: "x0", Token: "x", Amount: 5, Sent: json.RawMessage(kept)}
		for _, form := range []url.Values{nil, {"msisdn": {msisdn}, "otp": {code}, "action": {action}}} {
			answer, err := servePage(t.Context(), r, &operatorapi.Visit{Order: order, Form: form})
			if err != nil {
				t.Fatal(err)
			}
			text := answer.Body.(operatorapi.Text).Text
			if strings.Contains(strings.ToLower(text), "<script") || strings.Count(text, "<bdi>") != 2 || strings.Contains(text, "<b>&") {
				t.Errorf("the page is %s", text)
			}
		}
	})
}
