package browser

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

const kamau = "+254712000001"

// duka is a shop in Kenya that shows QR codes of M-Pesa.
type duka struct {
	*shop
	token string
}

func newDuka(t *testing.T) *duka {
	t.Helper()
	s := newShop(t, system.Acknowledge, func(c *sandboxes.Config) {
		c.Environments = append(c.Environments, sandboxes.EnvironmentConfig{
			Operator: payments.MPesa, Country: "KE", Enabled: true, UnknownPolicy: payments.Reject, Terms: payments.Terms{AbsorptionPct: 100},
		})
		c.OpeningFloat["KES"] = 1_000_000
	})
	d := &duka{shop: s}
	c := operators.NativeAPI(payments.MPesa).Derive(s.Key)
	d.token, _ = d.ask(http.MethodGet, "/oauth/v1/generate?grant_type=client_credentials", "Basic "+
		base64.StdEncoding.EncodeToString([]byte(c.User+":"+c.UserKey)), "")["access_token"].(string)
	return d
}

// ask sends a request to M-Pesa's own API.
func (d *duka) ask(method, path, authorization, body string) (answer map[string]any) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, sandboxOf(d.shop)+"/operators/mpesa"+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != http.StatusOK || json.Unmarshal(text, &answer) != nil {
		d.t.Fatalf("%s answered %d %s, %v", path, got.StatusCode, text, err)
	}
	return answer
}

// code returns the picture of a QR code, and the address that another library reads in it.
func (d *duka) code(merchant, refNo string, amount int64) (picture []byte, address string) {
	d.t.Helper()
	body, err := json.Marshal(map[string]any{"MerchantName": merchant, "RefNo": refNo, "Amount": amount, "TrxCode": "PB", "CPI": "174379", "Size": "300"})
	if err != nil {
		d.t.Fatal(err)
	}
	picture, err = base64.StdEncoding.DecodeString(d.ask(http.MethodPost, "/mpesa/qrcode/v1/generate", "Bearer "+d.token, string(body))["QRCode"].(string))
	if err != nil {
		d.t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		d.t.Fatal(err)
	}
	bitmap, err := gozxing.NewBinaryBitmapFromImage(decoded)
	if err != nil {
		d.t.Fatal(err)
	}
	found, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		d.t.Fatal(err)
	}
	return picture, found.GetText()
}

// paid waits until so many payments of an order succeeded.
func (d *duka) paid(refNo string, n int) {
	d.t.Helper()
	d.eventually(fmt.Sprint(n, " payments of ", refNo), func() bool {
		return len(d.get("/payments?order_ref=" + refNo + "&status=SUCCESS")["data"].([]any)) == n
	})
}

// What the picture has is the page on which a real phone pays, in both languages.
func TestQRCodePage(t *testing.T) {
	t.Parallel()
	d := newDuka(t)
	d.client(kamau, "Kamau", "Manual", 100_000)
	const merchant = `<b>"Duka"</b> & <i>sons</i>`
	_, address := d.code(merchant, "order-7", 1500)
	b := newTab(t)
	b.open(address)
	b.shows("h1", "Pay with M-PESA")
	b.shows(".card", merchant)
	b.shows(".card", "1,500 KES")
	b.shows(".note", "Simulation")
	if n := read[int](b, `document.querySelector(".own-code svg").getClientRects().length`); n != 1 {
		t.Error("a wide page shows no code of its own")
	}
	b.inspect("the page of a QR code")
	b.scanPictures("form")
	b.fill("#msisdn", "07")
	read[bool](b, `(() => { window.sent = true; document.querySelector("form").noValidate = true; return true })()`)
	b.press(`document.querySelector("button[value=pay]")`)
	b.until(`!window.sent`)
	b.shows("#wrong", "This is no phone number")
	b.inspect("a wrong number")
	b.fill("#msisdn", "0712 000 001")
	b.press(`document.querySelector("button[value=pay]")`)
	b.shows("h1", "Paid")
	b.shows("dl", "Transaction")
	b.inspect("a paid QR code")
	b.scanPictures("paid")
	d.paid("order-7", 1)
	b.travel(`location.reload()`)
	b.shows("h1", "Paid")
	b.travel(`history.back()`)
	d.paid("order-7", 1)

	b.speak("fr")
	b.open(address)
	b.shows("h1", "Payer avec M-PESA")
	b.inspect("the page of a QR code in French")
	b.press(`document.querySelector("button[value=cancel]")`)
	b.shows("h1", "Paiement annulé")
	b.open(address[:len(address)-1] + "g")
	b.shows("h1", "Ce code n'existe pas")
	b.inspect("no QR code")
}

// The phone of the console scans the code: chosen, by its address, or from a picture if the browser reads pictures. After it, the
// phone shows the message of M-Pesa.
func TestPhoneScansAQRCode(t *testing.T) {
	t.Parallel()
	d := newDuka(t)
	d.client(kamau, "Kamau", "Manual", 100_000)
	picture, address := d.code("Duka", "order-8", 250)
	b := newTab(t)
	b.signIn(d.shop)
	b.click("Handsets")
	b.click("Scan a QR code")
	b.shows("h1", "Scan a QR code")
	b.shows(".codes", "order-8")
	b.inspect("the scan of a phone")
	b.scanPictures("scan")
	b.fill("#address", address+"0")
	b.press(`document.querySelector("#address").form.querySelector("button")`)
	b.shows("#wrong-address", "No QR code of this sandbox")
	b.inspect("the scan of no code")
	read[string](b, `document.querySelector("#address").value = ""`)
	b.fill("#address", address)
	b.press(`document.querySelector("#address").form.querySelector("button")`)
	b.shows("h2", "Pay to \u2068Duka\u2069")
	b.inspect("a scanned code")
	b.scanPictures("scanned")
	b.press(`document.querySelector('form[action$="/pay"] button')`)
	b.shows("#phone-"+kamau[1:], "Confirmed. KSH250.00 sent to")
	b.shows("#phone-"+kamau[1:], "for account order-8")
	b.inspect("a phone with a message of M-Pesa")
	b.scanPictures("message")
	d.paid("order-8", 1)

	b.press(`document.querySelector('a[href$="/scan"]')`)
	b.shows(".codes", "order-8")
	b.press(`document.querySelector(".codes button")`)
	b.shows("h2", "Pay to \u2068Duka\u2069")
	b.press(`document.querySelector('form[action$="/pay"] button')`)
	d.paid("order-8", 2)

	// Chromium reads pictures on some systems only, so the test brings the reader: it says what is in the picture.
	file := filepath.Join(t.TempDir(), "code.png")
	if err := os.WriteFile(file, picture, 0o600); err != nil {
		t.Fatal(err)
	}
	b.reads(address)
	b.open(consoleOf(d.Sandbox) + "/handsets/" + kamau + "/scan")
	b.shows("[data-scan] label", "A picture of the code")
	b.inspect("the scan of a picture")
	b.choose("#picture", file)
	b.shows("h2", "Pay to \u2068Duka\u2069")
	b.press(`document.querySelector('form[action$="/pay"] button')`)
	d.paid("order-8", 3)
	b.inspectFrench(consoleOf(d.Sandbox)+"/handsets/"+kamau+"/scan", "the scan of a phone")
}

// reads gives the pages that the tab opens a reader of QR codes, which says what it reads in every picture.
func (b *tab) reads(text string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(
		`window.BarcodeDetector = class { async detect(picture) { return picture.width === 300 ? [{rawValue: %s}] : []; } }`, quoted(text))})
	b.do(err)
}

// choose puts a file into a field for files.
func (b *tab) choose(selector, file string) {
	b.t.Helper()
	b.do(chromedp.Do(b.ctx, chromedp.SetUploadFiles(selector, []string{file})))
}

// scanPictures writes the page in each width and appearance, for `make screenshots`.
func (b *tab) scanPictures(name string) {
	b.t.Helper()
	if os.Getenv(folderVariable) != "" {
		b.pictures("scan-" + name)
	}
}
