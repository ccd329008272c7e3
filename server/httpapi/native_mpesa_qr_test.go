package httpapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"github.com/cauri-dev/cauri/server/payments"
)

const mpesaQR = "/mpesa/qrcode/v1/generate"

// qrBody is a good request for a QR code of 500 shillings. Changes are pairs of a field and its JSON; an empty one removes the
// field.
func qrBody(changes ...string) string {
	fields := map[string]json.RawMessage{
		"MerchantName": json.RawMessage(`"Duka"`), "RefNo": json.RawMessage(`"order-7"`), "Amount": json.RawMessage("500"),
		"TrxCode": json.RawMessage(`"PB"`), "CPI": json.RawMessage(`"174379"`), "Size": json.RawMessage(`"300"`),
	}
	for i := 0; i < len(changes); i += 2 {
		if fields[changes[i]] = json.RawMessage(changes[i+1]); changes[i+1] == "" {
			delete(fields, changes[i])
		}
	}
	text, _ := json.Marshal(fields)
	return string(text)
}

// readQR returns the side of the picture in an answer, and the text that another library than Cauri's reads in it.
func (m *mpesa) readQR(got nativeAnswer) (side int, text string) {
	m.f.t.Helper()
	encoded, _ := got.body["QRCode"].(string)
	if got.status != http.StatusOK || got.body["ResponseCode"] != "00" || got.body["ResponseDescription"] != "QR Code Successfully Generated." {
		m.f.t.Fatalf("a code is answered %d %s (%s)", got.status, got.raw, got.header.Get("X-Cauri-Reason"))
	}
	picture, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		m.f.t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		m.f.t.Fatal(err)
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(decoded)
	if err != nil {
		m.f.t.Fatal(err)
	}
	found, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		m.f.t.Fatal(err)
	}
	return decoded.Bounds().Dx(), found.GetText()
}

// codePage is the page that a QR code opens.
func (m *mpesa) codePage(changes ...string) *placed {
	m.f.t.Helper()
	_, page := m.readQR(m.call("POST", mpesaQR, qrBody(changes...)))
	return &placed{orange: &orange{f: m.f}, page: page}
}

var draftField = regexp.MustCompile(`name="draft" value="(\w+)"`)

// pay fills in the form of the page of a code.
func (p *placed) pay(msisdn string) shown {
	p.f.t.Helper()
	draft := draftField.FindStringSubmatch(p.open().text)
	if draft == nil {
		p.f.t.Fatalf("the page has no form: %s", p.open().text)
	}
	return p.open("action", "pay", "msisdn", msisdn, "draft", draft[1])
}

// What a QR code has is the page of this sandbox, on which a payer pays the short code: the shop is told, and /v1 says the same.
func TestMPesaQR(t *testing.T) {
	s := newC2BShop(t)
	s.register("v2", "Completed", "")
	p := s.m.codePage()
	if want := regexp.MustCompile(`^` + regexp.QuoteMeta(s.f.url) + `/sandboxes/team/checkout/operators/mpesa/c/[0-9a-f]{32}$`); !want.MatchString(p.page) {
		t.Errorf("the code has %s", p.page)
	}
	form := p.open()
	form.is(t, http.StatusOK, "Pay with M-PESA")
	form.is(t, http.StatusOK, "Duka")
	form.is(t, http.StatusOK, "Simulation.")
	if form.header.Get("X-Robots-Tag") != "noindex, nofollow" || strings.Contains(strings.ToLower(form.text), `name="pin"`) {
		t.Errorf("the page is %v %s", form.header, form.text)
	}
	p.pay("0712 000 001").is(t, http.StatusOK, "Paid")
	s.advance("10s")
	listed := s.f.byBill("order-7")
	if len(listed) != 1 {
		t.Fatalf("there are %d payments: %v", len(listed), listed)
	}
	for name, want := range (object{
		"source": "native", "operator": "mpesa", "country": "KE", "currency": "KES", "msisdn": wanjiku, "amount": 500.0, "status": "SUCCESS",
	}) {
		if listed[0][name] != want {
			t.Errorf("/v1 has %v as %s, want %v", listed[0][name], name, want)
		}
	}
	transID, _ := listed[0]["reference"].(string)
	if !regexp.MustCompile("^" + receiptForm + "$").MatchString(transID) {
		t.Errorf("the reference is %q", transID)
	}
	told := strings.Join(s.sent(), "\n")
	for _, part := range []string{`/told`, `"TransID":"` + transID + `"`, `"TransAmount":"500.00"`, `"BillRefNumber":"order-7"`, `"BusinessShortCode":"174379"`, `"Pay Bill"`} {
		if !strings.Contains(told, part) {
			t.Errorf("the shop is told %q, without %s", told, part)
		}
	}
	if shown := (&placed{orange: p.orange, page: p.page + "?paid=" + transID}).open(); !strings.Contains(shown.text, transID) {
		t.Errorf("the page of the payment is %s", shown.text)
	}
	p.pay(wanjiku).is(t, http.StatusOK, "Paid") // the same code again
	if n := len(s.f.byBill("order-7")); n != 2 {
		t.Errorf("the code was paid twice, and there are %d payments", n)
	}
	s.f.conserved()
}

// A form that a browser sends twice pays once, also at once. Several payers pay a code at once.
func TestMPesaQRAtOnce(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	p := m.codePage("Amount", "10")
	draft := draftField.FindStringSubmatch(p.open().text)[1]
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { p.open("action", "pay", "msisdn", wanjiku, "draft", draft).is(t, http.StatusOK, "Duka") }) // one may be too early
	}
	all.Wait()
	p.open("action", "pay", "msisdn", wanjiku, "draft", draft).is(t, http.StatusOK, "Paid")
	if n := len(f.byBill("order-7")); n != 1 {
		t.Errorf("one form is %d payments", n)
	}
	for i := range 4 {
		msisdn := fmt.Sprintf("+25471200010%d", i)
		m.client(fmt.Sprint("payer-", i), msisdn, 100)
		all.Go(func() { p.pay(msisdn).is(t, http.StatusOK, "Paid") })
	}
	all.Wait()
	if n := len(f.byBill("order-7")); n != 5 {
		t.Errorf("five payers are %d payments", n)
	}
	f.conserved()
}

// A shop that rejects a payment gets none.
func TestMPesaQRThatTheShopRejects(t *testing.T) {
	s := newC2BShop(t)
	s.register("v2", "Completed", "/no")
	s.m.codePage().pay(wanjiku).is(t, http.StatusOK, "The shop did not accept the payment")
	if n := s.f.transactions(); n != 0 {
		t.Errorf("there are %d transactions", n)
	}
}

func TestMPesaQRThatCannotBePaid(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	for _, changes := range [][]string{{"TrxCode", `"WA"`}, {"TrxCode", `"SM"`, "CPI", `"254712000001"`}, {"TrxCode", `"SB"`, "CPI", "373132"}, {"CPI", `"373132"`}} {
		p := m.codePage(changes...)
		shown := p.open()
		shown.is(t, http.StatusOK, "Nothing can be paid here")
		if strings.Contains(shown.text, "<form") {
			t.Errorf("%v has a form", changes)
		}
		p.open("action", "pay", "msisdn", wanjiku).is(t, http.StatusOK, "Nothing can be paid here")
	}
	own := m.codePage("CPI", `"`+m.Secret["mpesa-shortcode"]+`"`, "TrxCode", `"BG"`)
	own.open("action", "cancel").is(t, http.StatusOK, "Nothing was paid.")
	own.open("action", "pay", "msisdn", "none").is(t, http.StatusUnprocessableEntity, "This is no phone number")
	if n := f.transactions(); n != 0 {
		t.Errorf("there are %d transactions", n)
	}
	m.client("poor", "+254712000002", 10)
	own.pay("+254712000002").is(t, http.StatusOK, "Your balance is too low")
	own.pay("+254712999999").is(t, http.StatusOK, "The payment has failed")
	f.conserved()
}

// A code ends after 30 days, with a reset, and is that of one sandbox.
func TestMPesaQREnds(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	f.startClock()
	p := m.codePage()
	p.open().is(t, http.StatusOK, "Pay with M-PESA")
	for _, address := range []string{
		strings.Replace(p.page, "/c/", "/c/0", 1), p.page[:len(p.page)-32] + strings.Repeat("0", 32), strings.Replace(p.page, "/checkout/", "/other/", 1),
	} {
		(&placed{orange: p.orange, page: address}).open().is(t, http.StatusNotFound, "This code does not exist")
	}
	f.exec("update clocks set ahead = make_interval(days => 30)")
	p.open().is(t, http.StatusNotFound, "This code does not exist")
	p.open("action", "pay", "msisdn", wanjiku).is(t, http.StatusNotFound, "This code does not exist")
	if n := f.transactions(); n != 0 {
		t.Errorf("there are %d transactions", n)
	}
}

// The page is in French for a browser that wants it.
func TestMPesaQRInFrench(t *testing.T) {
	_, m := withMPesa(t, payments.Manual)
	p := m.codePage()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.page, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Language", "fr-FR,fr;q=0.9")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var text bytes.Buffer
	_, _ = text.ReadFrom(answer.Body)
	shown{answer.StatusCode, answer.Header, text.String()}.is(t, http.StatusOK, "Payer avec M-PESA")
	if !strings.Contains(text.String(), `lang="fr"`) {
		t.Error("the page is not French")
	}
}

func TestMPesaQRFields(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	for field, values := range map[string][]string{
		"MerchantName": {"", `""`, "5", `"` + strings.Repeat("x", 81) + `"`},
		"RefNo":        {"", `""`, "{}", `"` + strings.Repeat("x", 81) + `"`},
		"Amount":       {"", "0", "1.5", `"x"`, "-1"},
		"TrxCode":      {"", `"pb"`, `"XX"`, "7"},
		"CPI":          {"", `"x"`, `"123"`, "1.5"},
		"Size":         {`"x"`, "63", "1001", `"-300"`, "1e3"},
	} {
		for _, value := range values {
			got := m.call("POST", mpesaQR, qrBody(field, value))
			if got.status != http.StatusBadRequest || got.body["errorCode"] != "400.002.02" || got.body["errorMessage"] != "Bad Request - Invalid "+field {
				t.Errorf("%s as %s is answered %d %s", field, value, got.status, got.raw)
			}
		}
	}
	for size, want := range map[string]int{"": 300, "150": 150, `"1000"`: 1000, `""`: 300} {
		if side, _ := m.readQR(m.call("POST", mpesaQR, qrBody("Size", size, "CPI", "174379", "Amount", `"5"`))); side != want {
			t.Errorf("a size of %q is %d pixels", size, side)
		}
	}
	if side, text := m.readQR(m.call("POST", mpesaQR, qrBody("Size", "64"))); side != 64 || !strings.HasPrefix(text, f.url) {
		t.Errorf("the smallest picture has %d pixels and %q", side, text)
	}
	if got := m.send("POST", mpesaQR, qrBody(), "Authorization", "Bearer x"); got.status != http.StatusNotFound || got.body["errorCode"] != "404.001.03" {
		t.Errorf("a wrong token is answered %d %s", got.status, got.raw)
	}
}

// At the root of a host, the page is at this host.
func TestMPesaQRAtTheRoot(t *testing.T) {
	f, _ := withMPesa(t, payments.Approve)
	f = f.withRoots()
	f.mpesa(key).token() // now the server knows the sandbox
	root := f.rootOf("checkout", payments.MPesa)
	at := f.at(root).mpesa(key)
	at.base = ""
	p := at.codePage()
	if !strings.HasPrefix(p.page, root+"/c/") {
		t.Errorf("at the root %s the code has %s", root, p.page)
	}
	p.pay(wanjiku).is(t, http.StatusOK, "Paid")
	f.conserved()
}

// A key that is rotated ends its codes.
func TestMPesaQREndsWithItsKey(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	p := m.codePage()
	f.sandbox(f.config, "cauri_another_key_0123456789abcdef0123456789")
	f.follow()
	p.open().is(t, http.StatusNotFound, "This code does not exist")
}

// Codes of a sandbox whose environment was switched off cannot be paid.
func TestMPesaQRWithoutTheMarket(t *testing.T) {
	f, m := withMPesa(t, payments.Manual)
	p := m.codePage()
	for i := range f.config.Environments {
		if f.config.Environments[i].Operator == payments.MPesa {
			f.config.Environments[i].Enabled = false
		}
	}
	f.sandbox(f.config, key)
	f.follow()
	if got := p.open("action", "pay", "msisdn", wanjiku); got.status == http.StatusInternalServerError || f.transactions() != 0 {
		t.Errorf("it is answered %d %s", got.status, got.text)
	}
}
