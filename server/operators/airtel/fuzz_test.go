package airtel

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/operators/operatorapi/operatorapitest"
	"github.com/cauri-dev/cauri/server/payments"
)

func checkOrder(t *testing.T, o operatorapi.Order) {
	moves := o.Amount >= 1 && o.Amount <= payments.MaxAmount && len(o.MSISDN) == 13 && strings.HasPrefix(o.MSISDN, "+250")
	if !moves && o.Operation != refundCall || o.Reference == "" || len([]rune(o.Reference)) > maxID || len([]rune(o.OrderRef)) > maxOrderRef {
		t.Errorf("it is recorded: %+v", o)
	}
	raw, err := json.Marshal(o.Sent)
	if err != nil {
		t.Fatal(err)
	}
	paid := &payments.Transaction{
		Details: payments.Details{Reference: o.Reference}, Type: payments.Collection, Status: payments.Success,
		Amount: o.Amount,
	}
	body := newCallback(paid, raw, operatorapi.StatusView{}).Body
	if signed := sign(body, json.RawMessage(`{"hash":true}`), "key"); !json.Valid(body) || !json.Valid(signed) {
		t.Errorf("the callback is %s, signed %s", body, signed)
	}
}

// FuzzRequest sends any body with any headers to every call: tokens, payments, refunds, disbursements, enquiries. Each
// call answers, or refuses as its description says. %PIN% in a body is replaced by an encrypted PIN.
func FuzzRequest(f *testing.F) {
	api := NewAPI()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	encrypted, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &key.PublicKey, []byte("1234"), nil)
	if err != nil {
		f.Fatal(err)
	}
	pin := base64.StdEncoding.EncodeToString(encrypted)
	for _, route := range api.Routes {
		if route.Doc.Body != "" {
			f.Add(strings.ReplaceAll(route.Doc.Body, examplePIN, "%PIN%"), "730123456", "RW", "RWF", "application/json")
		}
	}
	f.Add(`{"subscriber":{"msisdn":250730123456},"transaction":{"amount":"5.0","id":"x"}}`, "x", "rw", "rwf", "")
	f.Add("{}", `"`, "RW", "RWF", "")
	f.Add("client_id=x&client_secret=y&grant_type=client_credentials", "", "CI", "XOF", "application/x-www-form-urlencoded")
	f.Fuzz(func(t *testing.T, body, text, country, currency, kind string) {
		header := http.Header{countryHeader: {country}, currencyHeader: {currency}, "Content-Type": {kind}}
		r := operatorapitest.Recorder{T: t, Check: checkOrder, Key: key, Sent: "{}"}
		operatorapitest.CallAll(r, api, header, []byte(strings.ReplaceAll(body, "%PIN%", pin)), text)
	})
}
