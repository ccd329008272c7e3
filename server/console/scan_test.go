package console_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const kamau = "+254712000001"

// kenya adds a market of M-Pesa with a test client.
func (f *fixture) kenya(behavior payments.Behavior) {
	f.t.Helper()
	f.config.Environments = append(f.config.Environments, sandboxes.EnvironmentConfig{
		Operator: payments.MPesa, Country: "KE", Enabled: true, UnknownPolicy: payments.Reject,
	})
	f.config.OpeningFloat["KES"] = 0
	f.apply(f.config, key)
	f.create(key, "/v1/test_clients", fmt.Sprintf(`{"msisdn":%q,"name":"Kamau","balance":50000,"behavior":%q}`, kamau, behavior))
}

// qrCode makes a QR code of M-Pesa, and returns the address that another library reads in it.
func (f *fixture) qrCode(trxCode, refNo string, amount int) string {
	f.t.Helper()
	c := operators.NativeAPI(payments.MPesa).Derive(key)
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+"/operators/mpesa/oauth/v1/generate?grant_type=client_credentials", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.SetBasicAuth(c.User, c.UserKey)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer got.Body.Close()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(got.Body).Decode(&token); err != nil {
		f.t.Fatal(err)
	}
	made := f.askOperator(payments.MPesa, "/mpesa/qrcode/v1/generate",
		fmt.Sprintf(`{"MerchantName":"Duka","RefNo":%q,"Amount":%d,"TrxCode":%q,"CPI":"174379","Size":"300"}`, refNo, amount, trxCode),
		"Authorization", "Bearer "+token.AccessToken, "Content-Type", "application/json")
	picture, err := base64.StdEncoding.DecodeString(made["QRCode"].(string))
	if err != nil {
		f.t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		f.t.Fatal(err)
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(decoded)
	if err != nil {
		f.t.Fatal(err)
	}
	found, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		f.t.Fatal(err)
	}
	return found.GetText()
}

// A phone scans a QR code and pays it. Then it shows the message of M-Pesa.
func TestPhonesScan(t *testing.T) {
	f := newFixture(t)
	f.kenya(payments.Manual)
	b := f.signedIn(checkout, key)
	phones := b.get(checkout + "/handsets")
	phones.has(t, "Scan a QR code", "M-Pesa KE")
	if strings.Contains(phones.text, "One-time code") {
		t.Error("a phone of M-Pesa has a one-time code")
	}
	address, other := f.qrCode("PB", "order-7", 1500), f.qrCode("WA", "order-8", 10)
	scan := "/handsets/" + kamau + "/scan"
	form := b.get(checkout + scan)
	form.has(t, "Scan a QR code", "QR codes of this sandbox", "order-7 KES 1,500", "order-8")
	if listed := regexp.MustCompile(`name="address" value="([^"]+)"`).FindAllStringSubmatch(form.text, -1); len(listed) != 2 || listed[1][1] != address {
		t.Errorf("the codes to choose are %v, want %s second", listed, address)
	}
	for typed, want := range map[string]string{
		"": "No QR code of this sandbox", "x": "No QR code of this sandbox", "%": "No QR code of this sandbox",
		address[:len(address)-1]: "No QR code of this sandbox", address[:len(address)-32] + strings.Repeat("0", 32): "No QR code of this sandbox",
		other: "Nothing can be paid with this code",
	} {
		got := b.post(checkout, scan, url.Values{"address": {typed}})
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(words(got.text), want) {
			t.Errorf("%q is answered %d %s", typed, got.status, words(got.text))
		}
	}
	asked := b.post(checkout, scan, url.Values{"address": {address}})
	asked.has(t, "Pay to \u2068Duka\u2069", "KES 1,500", "174379", "order-7")
	pay := url.Values{"address": {address}, "draft": {asked.hidden(t, "draft")}}
	for range 2 { // the second is the same form, and pays nothing
		if got := b.post(checkout, scan+"/pay", pay); got.status != http.StatusSeeOther || !strings.HasSuffix(got.header.Get("Location"), "/handsets") {
			t.Fatalf("the payment is answered %d to %q: %s", got.status, got.header.Get("Location"), words(got.text))
		}
	}
	message := regexp.MustCompile(`[A-Z][A-L][1-9A-V][0-9A-Z]{7} Confirmed\. KSH1,500\.00 sent to shop for account order-7 ` +
		`on \d{1,2}/\d{1,2}/\d\d at \d{1,2}:\d\d [AP]M New M-PESA balance is KSH48,500\.00\. Transaction cost, KSH0\.00\.`)
	if got := words(b.get(checkout + "/handsets").text); !message.MatchString(got) {
		t.Errorf("the phone shows %s", got)
	}
	if got := b.post(checkout, scan+"/pay", url.Values{"address": {other}}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("a code that cannot be paid is answered %d", got.status)
	}
	b.get(checkout+"/payments").has(t, "order-7", "QR code, paid as often as payers want")
}

// A guest with one phone scans with it, and sees no codes. A session that looks scans with none, and a phone of an operator
// without QR codes does not scan.
func TestGuestsScan(t *testing.T) {
	f := newFixture(t)
	f.kenya(payments.Approve)
	f.phones()
	address := f.qrCode("BG", "order-9", 20)
	guest := f.browser()
	link := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleHandset, MSISDN: kamau})
	guest.send(http.MethodPost, checkout+"/link", url.Values{"token": {link}})
	scan := checkout + "/handsets/" + kamau + "/scan"
	form := guest.get(scan)
	form.has(t, "Scan a QR code")
	if strings.Contains(form.text, "order-9") {
		t.Error("a guest sees the codes of the sandbox")
	}
	token := tokenField.FindStringSubmatch(form.text)[1]
	asked := guest.send(http.MethodPost, scan, url.Values{"address": {address}, "token": {token}})
	asked.has(t, "Pay to \u2068Duka\u2069")
	got := guest.send(http.MethodPost, scan+"/pay", url.Values{"address": {address}, "token": {token}, "draft": {asked.hidden(t, "draft")}})
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || !strings.HasSuffix(to, "/handsets/"+kamau) {
		t.Errorf("the payment is answered %d to %q: %s", got.status, to, words(got.text))
	}
	guest.get(checkout+"/handsets/"+kamau).has(t, "Confirmed. KSH20.00 sent to shop for account order-9")
	if got := guest.get(checkout + "/handsets/" + awa + "/scan"); got.status != http.StatusForbidden {
		t.Errorf("another phone is answered %d", got.status)
	}
	if got := f.viewer().get(scan); got.status != http.StatusForbidden {
		t.Errorf("a session that looks is answered %d", got.status)
	}
	if got := f.signedIn(checkout, key).get(checkout + "/handsets/" + awa + "/scan"); got.status != http.StatusNotFound {
		t.Errorf("a phone without QR codes is answered %d", got.status)
	}
}
