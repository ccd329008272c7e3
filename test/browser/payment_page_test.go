package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

const awa = "+2250707000001"

// webPay is a shop that sends payers to the page of Orange.
type webPay struct {
	*shop
	base string // of Orange's API
	key  string // merchant key
	user string // client id and secret
}

func newWebPay(t *testing.T, change ...func(*sandboxes.Config)) *webPay {
	t.Helper()
	s := newShop(t, system.Acknowledge, append(change, func(c *sandboxes.Config) { c.CallbackHosts = []string{"*"} })...)
	c := operators.NativeAPI(payments.Orange).Derive(s.Key)
	return &webPay{s, sandboxOf(s) + "/operators/orange", c.Secret["orange-merchant-key"], c.User + ":" + c.UserKey}
}

// ask sends a request to the operator's API.
func (w *webPay) ask(path, kind, authorization, body string) (answer map[string]any) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-Country", "RW") // Airtel reads these two, and Orange does not
	r.Header.Set("X-Currency", "RWF")
	if user, password, isUser := strings.Cut(w.user, ":"); isUser && authorization == "" {
		r.SetBasicAuth(user, password)
	} else {
		r.Header.Set("Authorization", authorization)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode/100 != 2 || json.Unmarshal(text, &answer) != nil {
		w.t.Fatalf("%s answered %d %s, %v", path, got.StatusCode, text, err)
	}
	return answer
}

// order opens an order of 1500 and returns the address of its page.
func (w *webPay) order(id, merchant string) string {
	w.t.Helper()
	return w.orderOf(1500, id, merchant)
}

func (w *webPay) orderOf(amount int64, id, merchant string) string {
	w.t.Helper()
	token := w.ask("/oauth/v3/token", "application/x-www-form-urlencoded", "", "grant_type=client_credentials")["access_token"]
	body, err := json.Marshal(map[string]any{
		"merchant_key": w.key, "currency": "OUV", "order_id": id, "amount": amount, "return_url": running.api.URL + "/docs", "cancel_url": running.api.URL + "/docs/orange",
		"notif_url": running.api.URL + "/notif", "lang": "fr", "reference": merchant,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	page := w.ask("/orange-money-webpay/dev/v1/webpayment", "application/json", fmt.Sprint("Bearer ", token), string(body))["payment_url"]
	return page.(string)
}

func (w *webPay) code() string {
	w.t.Helper()
	return w.get("/test_clients/" + url.PathEscape(awa) + "/otp")["otp"].(string)
}

// confirm fills in the form of the page.
func (b *tab) confirm(msisdn, code string) {
	b.t.Helper()
	read[string](b, `document.querySelector("#msisdn").value = ""`) // what was typed before
	b.fill("#msisdn", msisdn)
	b.fill("#otp", code)
	read[bool](b, `window.sent = true`)
	b.press(`document.querySelector("button[value=confirm]")`)
	b.until(`!window.sent`) // in the next document
}

// A payer confirms once, whatever the browser does: wrong codes, a second tab, an address that is opened again.
func TestPaymentPage(t *testing.T) {
	t.Parallel()
	w := newWebPay(t)
	w.client(awa, "Awa Koné", "Manual", 100_000)
	b, second := newTab(t), newTab(t)
	const merchant = `<b>"Awa"</b> & <i>fils</i>`
	page := w.order("order-1", merchant)
	b.open(page)
	b.shows("h1", "Confirmer le paiement")
	b.shows(".card", merchant)
	b.shows(".card", "1\u202f500 OUV")
	b.shows(".note", "Simulation")
	b.inspect("the page of an order")
	b.pagePictures("form")
	b.confirm("07 07 99 99 99", "123456")
	b.shows("#wrong", "n'a pas abouti")
	b.inspect("a number that nobody has")
	b.pagePictures("wrong")
	second.open(page)
	code := w.code()
	b.confirm("07 07 00 00 01", code)
	b.until(`location.pathname === "/docs"`)
	second.confirm("0707000001", code)
	second.shows("h1", "Paiement effectué")
	second.shows("dl", "Transaction\nMP")
	second.inspect("a payment that was made")
	second.pagePictures("paid")
	b.open(page)
	b.shows("h1", "Paiement effectué")
	paid := w.get("/payments?reference=order-1")["data"].([]any)
	if len(paid) != 1 || paid[0].(object)["status"] != "SUCCESS" {
		t.Errorf("the payments are %v", paid)
	}

	b.open(w.order("order-2", "Boutique"))
	b.press(`document.querySelector("button[value=cancel]")`)
	b.until(`location.pathname === "/docs/orange"`)
	b.travel(`history.back()`)
	b.shows("h1", "Paiement annulé")
	b.inspect("a cancelled order")
	b.pagePictures("cancelled")

	b.open(w.order("order-3", "Boutique"))
	for range 4 {
		b.confirm("0707000001", "000000")
		b.shows("#wrong", "n'a pas abouti")
	}
	b.confirm("0707000001", "000000")
	b.shows("h1", "Le paiement a échoué")
	b.inspect("five wrong codes")
	b.pagePictures("failed")

	b.open(w.order("order-4", "Boutique"))
	w.advance("11m")
	b.confirm("0707000001", w.code())
	b.shows("h1", "Ce paiement a expiré")
	b.inspect("an order that has expired")
	b.pagePictures("expired")
	b.open(w.orderOf(payments.MaxAmount, strings.Repeat("0", 30), "\u202e"+strings.Repeat("A", 29)))
	b.shows(".card", "1\u202f000\u202f000\u202f000\u202f000 OUV")
	b.inspect("the longest order")
	b.pagePictures("longest")
	b.open(strings.Replace(page, "pay_token/", "pay_token/x", 1))
	b.shows("h1", "Ce paiement n'existe pas")
	b.inspect("no order")
	b.pagePictures("unknown")
	if n := len(w.get("/payments")["data"].([]any)); n != 1 {
		t.Errorf("there are %d payments", n)
	}
}

// The buttons of the browser lead to what the order is now: after wrong codes, from the shop, with the page in two tabs, and after two
// clicks on the button.
func TestPaymentPageInTheHistoryOfTheBrowser(t *testing.T) {
	t.Parallel()
	w := newWebPay(t)
	w.client(awa, "Awa Koné", "Manual", 100_000)
	b, second := newTab(t), newTab(t)
	page := w.order("order-1", "Boutique")
	b.open(running.api.URL + "/docs/mtn")
	b.open(page)
	second.open(page)
	for _, left := range []string{"Il reste 4 essais.", "Il reste 3 essais."} {
		b.confirm("0707000001", "000000")
		b.shows("#wrong", left)
	}
	b.travel(`location.reload()`)
	b.shows("#wrong", "Il reste 3 essais.")
	b.travel(`history.back()`)
	b.shows("#wrong", "Il reste 3 essais.")
	b.travel(`history.forward()`)
	b.shows("#wrong", "Il reste 3 essais.")
	second.travel(`location.reload()`)
	second.shows("#wrong", "Il reste 3 essais.")
	code := w.code()
	second.confirm("0707000001", code)
	second.until(`location.pathname === "/docs"`)
	b.confirm("0707000001", code)
	b.shows("h1", "Paiement effectué")
	second.travel(`history.back()`)
	second.shows("h1", "Paiement effectué")

	page = w.order("order-2", "Boutique")
	b.open(page)
	b.fill("#msisdn", "0707000001")
	b.fill("#otp", w.code())
	read[bool](b, `(() => { const e = document.querySelector("button[value=confirm]"); e.click(); e.click(); return true })()`)
	b.until(`location.pathname === "/docs" || document.querySelector("h1").innerText === "Paiement effectué"`)
	second.open(page)
	second.shows("h1", "Paiement effectué")

	second.open(w.order("order-3", "Boutique"))
	second.press(`document.querySelector("button[value=cancel]")`)
	second.until(`location.pathname === "/docs/orange"`)
	second.travel(`history.back()`)
	second.shows("h1", "Paiement annulé")
	if paid := w.get("/payments")["data"].([]any); len(paid) != 2 {
		t.Errorf("there are %d payments", len(paid))
	}
}

// travel leaves the page by the history of the browser, and waits for the page that comes.
func (b *tab) travel(expression string) {
	b.t.Helper()
	read[bool](b, `(() => { window.sent = true; `+expression+`; return true })()`)
	b.until(`!window.sent`)
}

// pagePictures writes the page in each width and appearance, for `make screenshots`.
func (b *tab) pagePictures(name string) {
	b.t.Helper()
	if os.Getenv(folderVariable) != "" {
		b.pictures("payment-page-" + name)
	}
}

// The phone of a client of an operator with a page has the code that the page asks for, in both languages.
func TestPhonesHaveTheOneTimeCode(t *testing.T) {
	t.Parallel()
	w := newWebPay(t)
	w.client(awa, "Awa Koné", "Manual", 100_000)
	b := newTab(t)
	b.signIn(w.shop)
	b.click("Handsets")
	b.shows("#code-"+awa[1:], "One-time code")
	b.shows("#code-"+awa[1:], w.code())
	if !b.has(`#code-` + awa[1:] + ` button[data-copy="` + w.code() + `"]`) {
		t.Error("the code cannot be copied")
	}
	if n := read[int](b, `document.querySelector("#code-`+awa[1:]+` code").getClientRects().length`); n != 1 {
		t.Errorf("the code is on %d lines", n)
	}
	b.inspect("a phone with a code")
	b.pagePictures("phone")
	b.press(`document.querySelector('article [action$="/link"] button')`)
	b.shows("h1", "The phone of")
	guest := newTab(t)
	guest.open(read[string](b, `document.querySelector("[data-copy*='/console/link?token=']").dataset.copy`))
	guest.click("Open the phone")
	guest.shows("#code-"+awa[1:], w.code())
	guest.inspect("a guest's phone with a code")
	guest.pagePictures("guest")
	b.inspectFrench(consoleOf(w.Sandbox)+"/handsets", "a phone with a code")
	b.speak("fr")
	b.open(consoleOf(w.Sandbox) + "/handsets")
	b.shows("#code-"+awa[1:], "Code à usage unique")
}

// A payment that was made through an operator's own API says so, with its callback, on each page.
func TestNativePaymentsInTheConsole(t *testing.T) {
	t.Parallel()
	w := newWebPay(t, func(c *sandboxes.Config) {
		c.Environments = append(c.Environments, sandboxes.EnvironmentConfig{
			Operator: payments.Airtel, Country: payments.Rwanda, Enabled: true, UnknownPolicy: payments.Reject,
			CallbackURL: running.api.URL + "/notif", CallbackHash: true, Terms: payments.Terms{AbsorptionPct: 100},
		})
	})
	w.client(awa, "Awa Koné", "Manual", 100_000)
	b := newTab(t)
	b.open(w.order("order-1", "Boutique"))
	b.confirm("0707000001", w.code())
	b.until(`location.pathname === "/docs"`)

	airtel := *w
	airtel.base = sandboxOf(w.shop) + "/operators/airtel"
	c := operators.NativeAPI(payments.Airtel).Derive(w.Key)
	bearer := airtel.ask("/auth/oauth2/token", "application/json", "none", fmt.Sprintf(
		`{"grant_type":"client_credentials","client_id":%q,"client_secret":%q}`, c.User, c.UserKey))["access_token"]
	airtel.ask("/merchant/v1/payments/", "application/json", fmt.Sprint("Bearer ", bearer), `{"reference":"chairs",
		"subscriber":{"country":"RW","currency":"RWF","msisdn":"730000901"},
		"transaction":{"amount":1500,"country":"RW","currency":"RWF","id":"order-2"}}`)
	w.eventually("two callbacks", func() bool { return len(w.get("/events?event=operator.callback")["data"].([]any)) == 2 })

	b.signIn(w.shop)
	for reference, says := range map[string][3]string{
		"order-1": {"Confirmed on the payment page", "Orange's own API", "none"},
		"order-2": {"A test number was asked", "Airtel's own API", "airtel-callback-key"},
	} {
		path := "/payments/" + w.get("/payments?reference=" + reference)["data"].([]any)[0].(object)["id"].(string)
		b.open(consoleOf(w.Sandbox) + path)
		b.shows("main", says[0])
		b.shows("main", "Made through\n"+says[1])
		b.inspect(reference)
		b.inspectFrench(consoleOf(w.Sandbox)+path, reference)
		b.open(consoleOf(w.Sandbox) + path)
		b.click("operator.callback")
		b.shows("#lead", "It is the callback of "+says[1])
		b.shows("#facts", says[2])
		b.inspect("the callback of " + reference)
	}
	b.click("Webhooks")
	for _, operator := range []string{"Airtel · chairs", "Orange · order-1"} {
		b.shows("#list", operator)
	}
}
