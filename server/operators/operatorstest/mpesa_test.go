package operatorstest_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorstest"
	"github.com/cauri-dev/cauri/server/payments"
)

// A push rings once on a phone. Only its CheckoutRequestID, which the operator makes, finds it.
func TestMPesa(t *testing.T) {
	w := newFixture(t)
	r, _ := http.NewRequest(http.MethodGet, "/", nil)
	r.SetBasicAuth("shop", "hush")
	basic := r.Header.Get("Authorization")
	token := call{method: "GET", path: "/oauth/v1/generate?grant_type=client_credentials"}
	says := func(c call, authorization, want string) string {
		t.Helper()
		code, body := w.do(payments.MPesa, c.with("Authorization", authorization))
		if got := fmt.Sprintf("%d %s", code, body); !strings.Contains(got, want) {
			t.Errorf("%s %s: %s, want %s", c.path, c.body, got, want)
		}
		return body
	}
	says(token, "", "400.008.01")
	says(call{method: "GET", path: "/oauth/v1/generate"}, basic, "400.008.01")
	says(call{method: "POST", path: token.path}, basic, "404.001.01")
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(says(token, basic, `"expires_in":"3599"`)), &granted); err != nil {
		t.Fatal(err)
	}
	bearer := "Bearer " + granted.AccessToken

	const at = "20260531150000"
	password := base64.StdEncoding.EncodeToString([]byte(operatorstest.MPesaShortCode + operatorstest.MPesaPasskey + at))
	signed := `"BusinessShortCode":"` + operatorstest.MPesaShortCode + `","Password":"` + password + `","Timestamp":"` + at + `"`
	push := call{method: "POST", path: "/mpesa/stkpush/v1/processrequest", body: `{` + signed +
		`,"TransactionType":"CustomerPayBillOnline","Amount":5,"PartyA":"254712000009","PartyB":"` + operatorstest.MPesaShortCode +
		`","PhoneNumber":"254712000009","CallBackURL":"https://a","AccountReference":"r1","TransactionDesc":"Payment"}`}
	changed := func(from, to string) call {
		c := push
		if c.body = strings.Replace(push.body, from, to, 1); c.body == push.body {
			t.Fatalf("there is no %s in %s", from, push.body)
		}
		return c
	}
	says(push, "Bearer other", "404 {")
	for from, to := range map[string]string{
		`Amount":5`: `Amount":0`, `Amount":5,`: `Amount":"x",`, `"https://a"`: `"a"`, `:"r1"`: `:"0123456789abc"`, at + `",`: `now",`, "PayBill": "Pay",
		`"Payment"`: `""`,
	} {
		says(changed(from, to), bearer, "400.002.02")
	}
	says(changed(password, "AAAA"), bearer, "Wrong credentials")
	if n := len(w.Payments()); n != 0 {
		t.Errorf("%d pushes were made", n)
	}

	says(push, bearer, `"CheckoutRequestID":"ws_CO_310520261500000712000009"`)
	says(push, bearer, "Unable to lock subscriber")
	query := func(id string) call {
		return call{method: "POST", path: "/mpesa/stkpushquery/v1/query", body: `{` + signed + `,"CheckoutRequestID":"` + id + `"}`}
	}
	says(query("ws_CO_310520261500000712000009"), bearer, `"ResultCode":"4999"`)
	says(query("ws_CO_310520261500000712000008"), bearer, "500 {")
	w.clock = w.clock.Add(time.Second)
	says(query("ws_CO_310520261500000712000009"), bearer, `"ResultCode":"0"`)
	says(push, bearer, `"CheckoutRequestID":"ws_CO_310520261500010712000009"`) // another push, which Daraja takes
	says(push, bearer, "Unable to lock subscriber")
	if n := len(w.Payments()); n != 2 {
		t.Errorf("%d pushes were made", n)
	}
}
