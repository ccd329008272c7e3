package httpapi_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// orange is a client of Orange's own API in a sandbox.
type orange struct {
	f    *fixture
	base string
	operatorapi.Credentials
	bearer string
}

func (f *fixture) orange(key string) *orange {
	return &orange{f: f, base: "/operators/orange", Credentials: operators.NativeAPI(payments.Orange).Derive(key)}
}

// orangeNamed makes what exchanges have by a name.
func orangeNamed(f *fixture, name string) string {
	switch o := f.orange(key); name {
	case "token":
		return o.token()
	case "merchantkey":
		return o.Secret["orange-merchant-key"]
	}
	return ""
}

// orangeExamples opens an order for each call of the page that needs one.
func orangeExamples(f *fixture) pageExamples {
	o := f.orange(key)
	return pageExamples{
		bearer: func(*operatorapi.Route) string { return o.token() },
		replaced: func(r *operatorapi.Route) []string {
			id := "o-" + newReference()[:8]
			replaced := []string{"order-1042", id, "https://shop.example/notif", "https://127.0.0.1/notif"}
			if r.Name == "transactionstatus" {
				replaced = append(replaced, strings.Repeat("8f2b1c5a9d3e4f60", 4), o.place(id).payToken)
			}
			return replaced
		},
		variables: []string{},
	}
}

// awa is the number of a test client of Orange.
const awa = "+2250707000001"

// withOrange is a fixture whose test client awa has this behavior. Unknown numbers are rejected.
func withOrange(t *testing.T, behavior payments.Behavior) (*fixture, *orange) {
	f := newFixture(t)
	f.config.CallbackHosts = []string{"shop.example", "127.0.0.1"}
	f.config.Environments[2].UnknownPolicy = payments.Reject
	f.config.OpeningFloat = map[payments.Currency]int64{payments.XOF: 0}
	f.sandbox(f.config, key)
	f.orangeClient("awa", awa, 50_000, behavior)
	return f, f.orange(key)
}

func (f *fixture) orangeClient(name, msisdn string, balance int64, behavior payments.Behavior) {
	f.t.Helper()
	f.client(name, msisdn, balance, func(c *sandboxes.TestClientConfig) {
		c.Operator, c.Country, c.Behavior = payments.Orange, payments.CoteDIvoire, behavior
	})
}

// send makes a request. Headers come in pairs; an empty value removes one.
func (o *orange) send(method, path, body string, header ...string) nativeAnswer {
	o.f.t.Helper()
	r, err := http.NewRequestWithContext(o.f.t.Context(), method, o.f.url+o.base+path, strings.NewReader(body))
	if err != nil {
		o.f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		o.f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		o.f.t.Fatal(err)
	}
	got := nativeAnswer{status: answer.StatusCode, header: answer.Header, raw: string(text)}
	if len(text) > 0 && json.Unmarshal(text, &got.body) != nil {
		o.f.t.Fatalf("%s %s answered %s", method, path, text)
	}
	return got
}

func (o *orange) grant(version, user, password string) nativeAnswer {
	o.f.t.Helper()
	r, _ := http.NewRequestWithContext(o.f.t.Context(), http.MethodPost, o.f.url, nil)
	r.SetBasicAuth(user, password)
	return o.send("POST", "/oauth/"+version+"/token", "grant_type=client_credentials", "Authorization", r.Header.Get("Authorization"),
		"Content-Type", "application/x-www-form-urlencoded")
}

func (o *orange) token() string {
	o.f.t.Helper()
	got := o.grant("v3", o.User, o.UserKey)
	token, _ := got.body["access_token"].(string)
	if got.status != http.StatusOK || token == "" {
		o.f.t.Fatalf("the token call answered %d %s", got.status, got.raw)
	}
	return token
}

// call makes a request with a token, below the country dev.
func (o *orange) call(path string, body any, header ...string) nativeAnswer {
	o.f.t.Helper()
	if o.bearer == "" {
		o.bearer = o.token()
	}
	text, isText := body.(string)
	if !isText {
		encoded, err := json.Marshal(body)
		if err != nil {
			o.f.t.Fatal(err)
		}
		text = string(encoded)
	}
	return o.send("POST", path, text, append([]string{"Authorization", "Bearer " + o.bearer}, header...)...)
}

const orangePay, orangeStatus = "/orange-money-webpay/dev/v1/webpayment", "/orange-money-webpay/dev/v1/transactionstatus"

// order is a good order of 1000; changes replace fields, and nil removes one.
func (o *orange) order(id string, changes ...object) object {
	body := object{
		"merchant_key": o.Secret["orange-merchant-key"], "currency": "OUV", "order_id": id, "amount": 1000,
		"return_url": "https://shop.example/return?o=1", "cancel_url": "https://shop.example/cancel", "notif_url": "https://shop.example/notif",
		"lang": "fr", "reference": "Boutique",
	}
	for _, change := range changes {
		for name, value := range change {
			if value == nil {
				delete(body, name)
			} else {
				body[name] = value
			}
		}
	}
	return body
}

// placed is an order that was opened.
type placed struct {
	*orange
	id, payToken, notifToken, page string
}

func (o *orange) place(id string, changes ...object) *placed {
	o.f.t.Helper()
	got := o.call(orangePay, o.order(id, changes...))
	p := &placed{orange: o, id: id}
	p.payToken, _ = got.body["pay_token"].(string)
	p.notifToken, _ = got.body["notif_token"].(string)
	p.page, _ = got.body["payment_url"].(string)
	if got.status != http.StatusCreated || len(p.payToken) != 64 || len(p.notifToken) != 32 || got.body["status"] != 201.0 || got.body["message"] != "OK" {
		o.f.t.Fatalf("the order is answered %d %s (%s)", got.status, got.raw, got.header.Get("X-Cauri-Reason"))
	}
	return p
}

// state is what the status call tells.
func (p *placed) state() string {
	p.f.t.Helper()
	got := p.call(orangeStatus, object{"order_id": p.id, "amount": 1000, "pay_token": p.payToken})
	if got.status != http.StatusOK || got.body["order_id"] != p.id || (got.body["txnid"] != nil) != (got.body["status"] == "SUCCESS") {
		return got.raw
	}
	return got.body["status"].(string)
}

// shown is a page as it was answered.
type shown struct {
	status int
	header http.Header
	text   string
}

// open reads the page; with fields, in pairs, it sends its form.
func (p *placed) open(fields ...string) shown {
	p.f.t.Helper()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if len(fields) > 0 {
		form := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(p.f.t.Context(), method, p.page, body)
	if err != nil {
		p.f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.f.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.f.t.Fatal(err)
	}
	return shown{answer.StatusCode, answer.Header, string(text)}
}

// code is the one-time code of a number.
func (f *fixture) code(msisdn string) string {
	f.t.Helper()
	got := f.call("GET", "/v1/test_clients/%2B"+msisdn[1:]+"/otp", nil)
	code, _ := got.body["otp"].(string)
	if got.status != http.StatusOK || len(code) != 6 {
		f.t.Fatalf("the code of %s is answered %d %s", msisdn, got.status, got.raw)
	}
	return code
}

// confirm confirms with a number and its code.
func (p *placed) confirm(msisdn, code string) shown {
	p.f.t.Helper()
	return p.open("msisdn", msisdn, "otp", code, "action", "confirm")
}

func (s shown) is(t *testing.T, status int, words string) {
	t.Helper()
	if text := html.UnescapeString(s.text); s.status != status || !strings.Contains(text, words) {
		_, heading, _ := strings.Cut(text, "<h1>")
		t.Errorf("the page is %d, without %q: %.300s", s.status, words, heading)
	}
}

func TestOrangePayment(t *testing.T) {
	f, o := withOrange(t, payments.Manual)
	p := o.place("order-1042")
	if want := f.url + "/sandboxes/team/checkout/operators/orange/payment/pay_token/" + p.payToken; p.page != want {
		t.Errorf("the page is at %s, want %s", p.page, want)
	}
	if got := p.state(); got != "INITIATED" || f.transactions() != 0 {
		t.Errorf("before the payer confirms it is %s, with %d transactions", got, f.transactions())
	}
	p.open().is(t, http.StatusOK, "Confirmer le paiement")
	paid := p.confirm("07 07 00 00 01", f.code(awa))
	paid.is(t, http.StatusOK, "Paiement effectué")
	if got := paid.header.Get("Refresh"); got != "0; url=https://shop.example/return?o=1" {
		t.Errorf("after it, the browser goes to %q", got)
	}
	if got := p.state(); got != "SUCCESS" {
		t.Errorf("paid it is %s", got)
	}
	listed := f.page("reference=order-1042").body["data"].([]any)[0].(object)
	for name, want := range (object{
		"source": "native", "orderRef": "order-1042", "operator": "orange", "country": "CI", "currency": "XOF", "msisdn": awa,
		"amount": 1000.0, "status": "SUCCESS", "application": "shop", "customerTotal": 1020.0,
	}) {
		if listed[name] != want {
			t.Errorf("/v1 has %v as %s, want %v", listed[name], name, want)
		}
	}
	if got := f.balance(awa); got != 48_980 {
		t.Errorf("the payer has %d", got)
	}
	if again := p.confirm("0707000001", f.code(awa)); again.header.Get("Refresh") != "" || f.transactions() != 1 {
		t.Errorf("confirmed again, there are %d transactions", f.transactions())
	}
	p.open().is(t, http.StatusOK, "Paiement effectué")
	f.conserved()
}

// A page has an address also for a client that does not name the host that it asks.
func TestOrangePageWithoutAHost(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	body, err := json.Marshal(o.order("o-1"))
	if err != nil {
		t.Fatal(err)
	}
	to := strings.TrimPrefix(f.url, "http://")
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_, err = fmt.Fprintf(connection, "POST %s%s HTTP/1.0\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", o.base, orangePay, o.token(),
		len(body), body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(connection)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"payment_url":"http://` + to + `/sandboxes/team/checkout/operators/orange/payment/pay_token/`; !strings.Contains(string(answer), want) {
		t.Errorf("it is answered %s", answer)
	}
}

func TestOrangeStates(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	f.orangeClient("poor", "+2250707000002", 10, payments.Approve)
	f.orangeClient("cancels", "+2250707000003", 50_000, payments.Cancel)
	f.orangeClient("mistypes", "+2250707000004", 50_000, payments.WrongPIN)
	f.orangeClient("ignores", "+2250707000005", 50_000, payments.Ignore)
	f.client("blocked", "+2250707000006", 50_000, func(c *sandboxes.TestClientConfig) {
		c.Operator, c.Country, c.Blocked = payments.Orange, payments.CoteDIvoire, true
	})
	pages := map[string]*placed{}
	for number, want := range map[string][3]string{
		awa: {"SUCCESS", "SUCCESS", "Paiement effectué"}, "+2250707000002": {"FAILED", "INSUFFICIENT_FUNDS", "solde est insuffisant"},
		"+2250707000003": {"FAILED", "USER_CANCELLED", "Vous avez annulé"}, "+2250707000004": {"FAILED", "PIN_INVALID", "Code secret incorrect"},
		"+2250707000005": {"PENDING", "PENDING", "Paiement en cours"}, "+2250707000006": {"FAILED", "ACCOUNT_BLOCKED", "a échoué"},
	} {
		p := o.place("o" + number[1:])
		pages[number] = p
		shown := p.confirm(number, f.code(number))
		shown.is(t, http.StatusOK, want[2])
		if shown.header.Get("Refresh") == "" || p.state() != want[0] {
			t.Errorf("%s: the state is %s, and the browser goes to %q", number, p.state(), shown.header.Get("Refresh"))
		}
		if listed := f.page("reference=" + p.id).body["data"].([]any)[0].(object); listed["status"] != want[1] {
			t.Errorf("%s: /v1 says %v, want %s", number, listed["status"], want[1])
		}
	}
	f.exec("update transactions set expires_at = now(), due_at = now() where status = 'PENDING'")
	f.settle()
	pages["+2250707000005"].open().is(t, http.StatusOK, "pas répondu à temps")
	if got := (&placed{orange: o, id: "o2250707000005"}).stateOf(f); got != "EXPIRED" {
		t.Errorf("after its time, the payment that nobody answers is %s", got)
	}
	f.conserved()
}

// stateOf is the state of an order whose token was forgotten: another token takes its place.
func (p *placed) stateOf(f *fixture) string {
	f.t.Helper()
	p.payToken = strings.Repeat("0", 64)
	f.exec("update native_orders set token_hash = sha256($1::text::bytea) where order_id = $2", p.payToken, p.id)
	return p.state()
}

func TestOrangePage(t *testing.T) {
	f, o := withOrange(t, payments.Manual)
	const markup = `<b>"x'&</b>`
	p := o.place("o-1", object{"reference": markup})
	page := p.open()
	if strings.Contains(page.text, markup) || !strings.Contains(page.text, "&lt;b&gt;") || strings.Contains(page.text, "<script") {
		t.Errorf("the merchant's name is not escaped, or there is a script: %s", page.text)
	}
	for _, words := range []string{"Simulation", `lang="fr"`, "noindex", "1\u202f000", "OUV", "o-1"} {
		page.is(t, http.StatusOK, words)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	} {
		if got := page.header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	// A number that nobody has is answered as a wrong code, and so is what is malformed, without a try.
	p.confirm("x", "123456").is(t, http.StatusUnprocessableEntity, "pas un numéro")
	p.confirm("0707000001", "12345").is(t, http.StatusUnprocessableEntity, "six chiffres")
	wrong := p.confirm("0707000001", wrongCode(f.code(awa)))
	unknown := p.confirm("0707999999", "123456")
	if wrong.status != http.StatusOK || strings.Replace(wrong.text, "reste 4", "reste 3", 1) != unknown.text {
		t.Errorf("a wrong code is answered\n%d %s\nand an unknown number\n%d %s", wrong.status, wrong.text, unknown.status, unknown.text)
	}
	p.confirm("0707000001", "x23456").is(t, http.StatusUnprocessableEntity, "six chiffres")
	for range 2 {
		p.confirm("0707000001", wrongCode(f.code(awa))).is(t, http.StatusOK, "n'a pas abouti")
	}
	if got := p.state(); got != "INITIATED" {
		t.Errorf("after four wrong codes it is %s", got)
	}
	p.open().is(t, http.StatusOK, "Il reste un essai.")
	p.confirm("0707000001", wrongCode(f.code(awa))).is(t, http.StatusOK, "a échoué")
	p.confirm("0707000001", f.code(awa)).is(t, http.StatusOK, "a échoué")
	if got := p.state(); got != "FAILED" || f.transactions() != 0 {
		t.Errorf("after five wrong codes it is %s, with %d transactions", got, f.transactions())
	}
	// The payer cancels.
	cancelled := o.place("o-2", object{"cancel_url": "https://shop.example/annulé?n=é"})
	const back = "0; url=https://shop.example/annul%C3%A9?n=%C3%A9"
	if got := cancelled.open("action", "cancel"); got.header.Get("Refresh") != back || cancelled.state() != "FAILED" {
		t.Errorf("cancelled, it is %s, and the browser goes to %q", cancelled.state(), got.header.Get("Refresh"))
	}
	// Unknown numbers that may pay, and test numbers, have a code that is always the same.
	f.config.Environments[2].UnknownPolicy, f.config.TestNumbers = payments.Passthrough, payments.StandardTestNumbers
	f.sandbox(f.config, key)
	f.follow()
	for number, want := range map[string]string{"+2250707999999": "PENDING", "+2250730000902": "FAILED"} {
		p := o.place("o" + number[1:])
		p.confirm(number, wrongCode("123456")).is(t, http.StatusOK, "n'a pas abouti")
		p.confirm(number, "123 456")
		if got := p.state(); got != want {
			t.Errorf("%s: it is %s, want %s", number, got, want)
		}
	}
	for _, address := range []string{p.page + "0", strings.Replace(p.page, "checkout", "other", 1), strings.Replace(p.page, "checkout", "none", 1),
		f.url + "/operators/orange/payment/pay_token/" + p.payToken, strings.Replace(p.page, "operators", "operator%73", 1) + "%25zz"} {
		missing := (&placed{orange: o, page: address}).open()
		missing.is(t, http.StatusNotFound, "n'existe pas")
		if missing.header.Get("X-Cauri-Reason") != "not_found" {
			t.Errorf("%s is answered with the reason %q", address, missing.header.Get("X-Cauri-Reason"))
		}
	}
	f.conserved()
}

// A wrong code leads the browser back to the page, by an address that has nothing of the form.
func TestOrangePageLeadsBackAfterAWrongCode(t *testing.T) {
	f, o := withOrange(t, payments.Manual)
	p := o.place("o-1")
	form := url.Values{"msisdn": {awa}, "otp": {wrongCode(f.code(awa))}, "action": {"confirm"}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.page, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "?" || len(answer.Cookies()) > 0 {
		t.Errorf("it is answered %d with %v", answer.StatusCode, answer.Header)
	}
	for range 2 {
		p.open().is(t, http.StatusOK, "Il reste 4 essais.")
	}
}

// However an order ended, its page leads to the shop as the decision itself did: by cancel_url if its payer canceled.
func TestOrangePageThatIsLoadedAgain(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	f.orangeClient("cancels", "+2250707000003", 50_000, payments.Cancel)
	f.orangeClient("ignores", "+2250707000005", 50_000, payments.Ignore)
	wrong := func(p *placed) { p.confirm(awa, wrongCode(f.code(awa))) }
	const paid, canceled = "https://shop.example/return?o=1", "https://shop.example/cancel"
	var expired *placed
	for name, c := range map[string]struct {
		end   func(*placed)
		title string
		leads string
	}{
		"paid":     {func(p *placed) { p.confirm(awa, f.code(awa)) }, "Paiement effectué", paid},
		"failed":   {func(p *placed) { p.confirm("0707000003", f.code("+2250707000003")) }, "Le paiement a échoué", paid},
		"pending":  {func(p *placed) { p.confirm("0707000005", f.code("+2250707000005")) }, "Paiement en cours", paid},
		"canceled": {func(p *placed) { p.open("action", "cancel") }, "Paiement annulé", canceled},
		"canceled after a wrong code": {func(p *placed) {
			wrong(p)
			p.open("action", "cancel")
		}, "Paiement annulé", canceled},
		"paid otherwise": {func(p *placed) {
			wrong(p)
			f.call("POST", "/v1/payments", payment("paid-otherwise"))
			p.confirm(awa, f.code(awa))
		}, "La commande a déjà été payée autrement.", paid},
		"five wrong codes": {func(p *placed) {
			for range 5 {
				wrong(p)
			}
		}, "Le paiement a échoué", paid},
		"expired": {func(p *placed) { expired = p }, "Confirmer le paiement", ""},
	} {
		p := o.place(strings.ReplaceAll(name, " ", "-"))
		c.end(p)
		again := p.open()
		again.is(t, http.StatusOK, c.title)
		if got := again.leadsTo(); got != c.leads {
			t.Errorf("%s: the page leads to %q, want %q", name, got, c.leads)
		}
	}
	f.startClock()
	f.exec("update clocks set ahead = '601 seconds'")
	if got := expired.open().leadsTo(); got != paid {
		t.Errorf("expired: the page leads to %q", got)
	}
}

var toShop = regexp.MustCompile(`href="([^"]*)" rel="noreferrer"`)

// leadsTo returns the address of the shop that a page has.
func (s shown) leadsTo() string {
	if found := toShop.FindStringSubmatch(s.text); found != nil {
		return html.UnescapeString(found[1])
	}
	return ""
}

func wrongCode(code string) string { return code[:5] + string('0'+('9'-code[5])) }

func TestOrangeOrders(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	first := o.place("o-1")
	const taken = `{"code":1204,"message":"Forbidden transaction","description":"Order Already exists"}`
	o.call(orangePay, o.order("o-1")).is(t, http.StatusForbidden, taken)
	f.call("POST", "/v1/payments", payment("o-v1"))
	o.call(orangePay, o.order("o-v1")).is(t, http.StatusForbidden, taken)
	const notFound = `{"code":60,"message":"Resource not found","description":"The requested URI or the requested resource does not exist."}`
	for name, body := range map[string]object{
		"another order": {"order_id": "o-2", "amount": 1000, "pay_token": first.payToken}, "another amount": {"order_id": "o-1", "amount": 999, "pay_token": first.payToken},
		"another token": {"order_id": "o-1", "amount": 1000, "pay_token": first.notifToken},
	} {
		if got := o.call(orangeStatus, body); got.status != http.StatusNotFound || got.raw != notFound {
			t.Errorf("%s is answered %d %s", name, got.status, got.raw)
		}
	}
	// The id is taken before the payer confirms.
	f.call("POST", "/v1/payments", payment("o-1", object{"scenario": "success"}))
	first.confirm("0707000001", f.code(awa)).is(t, http.StatusOK, "a échoué")
	if got := first.state(); got != "FAILED" {
		t.Errorf("its id was taken, and it is %s", got)
	}
	// Nobody confirms within ten minutes.
	late := o.place("o-3")
	f.startClock()
	f.exec("update clocks set ahead = '540 seconds'")
	if got := late.state(); got != "INITIATED" {
		t.Errorf("before ten minutes it is %s", got)
	}
	f.exec("update clocks set ahead = '601 seconds'")
	late.confirm("0707000001", f.code(awa)).is(t, http.StatusOK, "a expiré")
	if got := late.state(); got != "EXPIRED" {
		t.Errorf("after ten minutes it is %s", got)
	}
	again := o.place("o-3")
	var tabs sync.WaitGroup
	code := f.code(awa)
	for range 4 {
		tabs.Go(func() { again.confirm("0707000001", code) })
	}
	tabs.Wait()
	if got := again.state(); got != "SUCCESS" || f.balance(awa) != 48_980 {
		t.Errorf("confirmed in four tabs it is %s, and the payer has %d", got, f.balance(awa))
	}
	f.conserved()
}

// startClock gives the sandbox a clock.
func (f *fixture) startClock() {
	f.t.Helper()
	f.exec("insert into clocks (tenant) select tenant from organizations where name = 'checkout'")
	f.exec("update organizations set clocked = true where name = 'checkout'")
	f.exec("update config_version set version = version + 1")
	f.exec("update organizations set version = (select version from config_version) where name = 'checkout'")
	f.follow()
}

func TestOrangeTokens(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	for version, want := range map[string]any{"v3": 3600.0, "v2": "7776000"} {
		got := o.grant(version, o.User, o.UserKey)
		if got.status != http.StatusOK || got.body["expires_in"] != want || got.body["token_type"] != "Bearer" {
			t.Errorf("%s is answered %d %s", version, got.status, got.raw)
		}
	}
	for _, pair := range [][2]string{
		{o.User, "x"}, {"x", o.UserKey}, {"", ""}, {o.User, ""}, {o.UserKey, o.User}, {f.orange(otherKey).User, o.UserKey},
	} {
		if got := o.grant("v3", pair[0], pair[1]); got.status != http.StatusUnauthorized || got.body["error"] != "invalid_client" {
			t.Errorf("%v is answered %d %s", pair, got.status, got.raw)
		}
	}
	p := o.place("o-1")
	f.startClock()
	f.exec("update clocks set ahead = '3601 seconds'")
	o.call(orangeStatus, "{}").is(t, http.StatusUnauthorized, expiredOrangeToken)
	o.bearer = ""
	if got := p.state(); got != "EXPIRED" {
		t.Errorf("with a new token it is %s", got)
	}
	for path, want := range map[string]string{
		orangeStatus: "405 61 POST method_not_allowed: method: expected POST", orangeStatus + "/x": "404 60  no_route: " + noPath,
	} {
		got := o.send("GET", path, "", "Authorization", "Bearer "+o.bearer)
		if told := fmt.Sprint(got.status, " ", got.body["code"], " ", got.header.Get("Allow"), " ", got.header.Get("X-Cauri-Reason")); told != want {
			t.Errorf("GET of %s is answered %s, want %s", path, told, want)
		}
	}
}

const (
	noPath = "path: expected a call that openapi.json of this API lists"

	noOrangeToken = `{"code":40,"message":"Missing credentials",` +
		`"description":"The requested service needs credentials, but none were provided."}`
	wrongOrangeToken = `{"code":41,"message":"Invalid credentials",` +
		`"description":"The requested service needs credentials, but the ones provided were invalid."}`
	expiredOrangeToken = `{"code":42,"message":"Expired credentials",` +
		`"description":"The requested service needs credentials, and the ones provided were out-of-date."}`
)

// Every route answers nobody without a token of the sandbox, in every form of its path.
func TestStrangersGetNothingFromOrange(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	f.sandbox(f.config, revokedKey)
	revoked := f.orange(revokedKey)
	revoked.bearer = revoked.token()
	ended := revoked.place("o-revoked")
	f.sandbox(f.config, key)
	f.exec("update api_keys set expires_at = now() where hash = sha256($1::text::bytea)", revokedKey)
	f.exec("update config_version set version = version + 1")
	f.exec("update organizations set version = (select version from config_version) where name = 'checkout'")
	f.follow()
	theirs := f.orange(otherKey)
	theirs.bearer = theirs.token()
	order := theirs.place("o-1", object{"merchant_key": theirs.Secret["orange-merchant-key"]})
	wrong := map[string]string{
		"none": "", "the API key": "Bearer " + key, "the secret": "Bearer " + o.UserKey, "the client": "Bearer " + o.User,
		"made up": "Bearer " + o.User + strings.Repeat("0", 32), "of a revoked key": "Bearer " + revoked.bearer,
	}
	api := operators.NativeAPI(payments.Orange)
	for _, route := range api.Routes {
		if route.Access == operatorapi.ByUser {
			continue // TestOrangeTokens
		}
		path := strings.Replace(route.Path, "{country}", "ci", 1)
		for _, base := range []string{"/operators/orange", "/sandboxes/team/checkout/operators/orange", "/sandboxes/team/none/operators/orange"} {
			at := *o
			at.base = base
			for what, header := range wrong {
				want := wrongOrangeToken
				if !strings.HasPrefix(header, "Bearer ") {
					want = noOrangeToken
				}
				if got := at.send(route.Method, path, "{}", "Authorization", header); got.status != 401 || got.raw != want {
					t.Errorf("%s%s with a token that is %s answered %d %s", base, path, what, got.status, got.raw)
				}
			}
			if strings.HasPrefix(base, "/sandboxes") {
				if got := at.send(route.Method, path, "{}", "Authorization", "Bearer "+theirs.bearer); got.status != 401 || got.raw != wrongOrangeToken {
					t.Errorf("%s%s with another sandbox's token answered %d %s", base, path, got.status, got.raw)
				}
			}
		}
	}
	// What is another sandbox's is not found, and the page of a revoked key has ended.
	if got := o.call(orangeStatus, object{"order_id": "o-1", "amount": 1000, "pay_token": order.payToken}); got.status != http.StatusNotFound {
		t.Errorf("another sandbox's order is answered %d %s", got.status, got.raw)
	}
	order.page = strings.Replace(order.page, "/other/", "/checkout/", 1)
	order.open().is(t, http.StatusNotFound, "n'existe pas")
	ended.open().is(t, http.StatusNotFound, "n'existe pas")
	f.conserved()
}

// An order that is confirmed in one tab and canceled in another has one outcome, and is never told another before.
func TestOrangeConfirmedAndCanceledAtOnce(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	for i := range 20 {
		order := o.place(fmt.Sprint("o-", i))
		code, ended := f.code(awa), make(chan struct{})
		var tabs, polls sync.WaitGroup
		told := map[string]bool{}
		polls.Go(func() {
			for {
				told[order.state()] = true
				select {
				case <-ended:
					return
				default:
				}
			}
		})
		for range 3 {
			tabs.Go(func() { order.confirm(awa, code) })
			tabs.Go(func() { order.open("action", "cancel") })
		}
		tabs.Wait()
		close(ended)
		polls.Wait()
		if last := order.state(); last != "SUCCESS" && last != "FAILED" || told["SUCCESS"] && told["FAILED"] {
			t.Errorf("it is told as %v, and at last as %s", told, last)
		}
	}
	f.conserved()
}

// A server that has not seen yet that a sandbox was deleted answers as one that has.
func TestPageOfADeletedSandbox(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	order := o.place("o-1")
	order.open().is(t, http.StatusOK, "Confirmer")
	if err := f.store.DeleteSandbox(t.Context(), f.config.UID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		order.open("action", "cancel").is(t, http.StatusNotFound, "n'existe pas")
	}
}

func TestOrangeRefusals(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	for name, c := range map[string]struct {
		change object
		status int
		code   float64
		reason string
	}{
		"no merchant key":      {object{"merchant_key": nil}, 400, 23, "missing_merchant_key"},
		"an empty order":       {object{"order_id": ""}, 400, 23, "missing_order_id"},
		"no amount":            {object{"amount": nil}, 400, 23, "missing_amount"},
		"no notification":      {object{"notif_url": nil}, 400, 23, "missing_notif_url"},
		"another merchant key": {object{"merchant_key": o.UserKey}, 403, 1202, "wrong_merchant_key"},
		"another currency":     {object{"currency": "XOF"}, 403, 1203, "wrong_currency"},
		"a long order":         {object{"order_id": strings.Repeat("x", 31)}, 400, 24, "wrong_order_id"},
		"a zero byte":          {object{"order_id": "\x00"}, 400, 24, "wrong_order_id"},
		"a number as order":    {object{"order_id": 5}, 400, 24, "wrong_order_id"},
		"an object as URL":     {object{"return_url": object{}}, 400, 24, "wrong_return_url"},
		"a long name":          {object{"reference": strings.Repeat("x", 31)}, 400, 24, "wrong_reference"},
		"another language":     {object{"lang": "de"}, 400, 24, "wrong_lang"},
		"zero":                 {object{"amount": 0}, 400, 24, "wrong_amount"},
		"below zero":           {object{"amount": -1}, 400, 24, "wrong_amount"},
		"a fraction":           {object{"amount": "1.5"}, 400, 24, "wrong_amount"},
		"too much":             {object{"amount": 1000000000001}, 400, 24, "wrong_amount"},
		"a script":             {object{"return_url": "javascript:alert(1)"}, 400, 24, "wrong_return_url"},
		"no host":              {object{"cancel_url": "/cancel"}, 400, 24, "wrong_cancel_url"},
		"a host of others":     {object{"notif_url": "https://elsewhere.example/"}, 400, 24, "wrong_notif_url"},
	} {
		got := o.call(orangePay, o.order("o-x", c.change))
		if got.status != c.status || got.body["code"] != c.code || !strings.HasPrefix(got.header.Get("X-Cauri-Reason"), c.reason+": ") {
			t.Errorf("%s is answered %d %s (%s)", name, got.status, got.raw, got.header.Get("X-Cauri-Reason"))
		}
	}
	for body, code := range map[string]float64{"": 21, " \n": 21, "{": 22, "[]": 22, "null": 22, `"x"`: 22} {
		if got := o.call(orangePay, body); got.status != http.StatusBadRequest || got.body["code"] != code {
			t.Errorf("%q is answered %d %s", body, got.status, got.raw)
		}
	}
	const noField = `Key: 'GetTransactionStatusInfo.OrderId' Error:Field validation for 'OrderId' failed on the 'required' tag`
	if got := o.call(orangeStatus, object{"amount": 1}); got.body["code"] != 23.0 || got.body["description"] != noField {
		t.Errorf("a status without an order is answered %d %s", got.status, got.raw)
	}
	for country, want := range map[string]string{"sn": "403 50", "RW": "403 50", "x": "400 20", "c1": "400 20", "dev-ci": "400 20"} {
		got := o.call(strings.Replace(orangePay, "dev", country, 1), o.order("o-x"))
		if told := fmt.Sprint(got.status, " ", got.body["code"]); told != want {
			t.Errorf("%s is answered %s, want %s", country, told, want)
		}
	}
	if n := read[int](f, "select count(*)::int from native_orders"); n != 0 {
		t.Errorf("%d orders were opened", n)
	}
	for i, change := range []object{
		{"amount": "5.0"}, {"amount": 5.00, "more": 1}, {"lang": nil, "reference": nil}, {"currency": "ouv", "return_url": "http://localhost:3000/"},
	} {
		o.place(fmt.Sprint("o-", i), change)
	}
	if got := o.call("/"+strings.Replace(orangePay, "dev", "CI", 1)+"/", o.order("o-ci", object{"currency": "XOF"})); got.status != http.StatusCreated {
		t.Errorf("the country of an environment is answered %d %s", got.status, got.raw)
	}
	f.config.Environments[2].Quirks = map[string]bool{"orangeDev": false}
	f.sandbox(f.config, key)
	f.follow()
	if got := o.call(orangePay, o.order("o-y")); got.status != http.StatusForbidden || got.body["code"] != 50.0 {
		t.Errorf("without its quirk, dev is answered %d %s", got.status, got.raw)
	}
}

func TestOrangeNotification(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	f.orangeClient("cancels", "+2250707000003", 50_000, payments.Cancel)
	shop := newShopEndpoint(t)
	paid, cancelled, left := o.place("n-1", object{"notif_url": shop.URL + "/paid"}), o.place("n-2", object{"notif_url": shop.URL + "/cancelled"}),
		o.place("n-3", object{"notif_url": shop.URL + "/left"})
	paid.confirm(awa, f.code(awa))
	cancelled.confirm("002250707000003", f.code("+2250707000003"))
	left.open("action", "cancel")
	f.runWorker()
	for path, p := range map[string]*placed{"/paid": paid, "/cancelled": cancelled} {
		sent := shop.wait(t, path, 1)
		var told object
		if len(sent) != 1 || json.Unmarshal([]byte(sent[0]), &told) != nil || len(told) != 3 || told["notif_token"] != p.notifToken ||
			told["status"] != p.state() || !strings.HasPrefix(told["txnid"].(string), "MP") {
			t.Errorf("%s got %q", path, sent)
		}
	}
	if n := read[int](f, "select count(*)::int from native_callbacks"); n != 2 {
		t.Errorf("there are %d notifications, want none of the order that nobody confirmed", n)
	}
}

func TestOrangeFaults(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	o.bearer = o.token()
	for status, code := range map[int]float64{429: 53, 500: 1, 502: 5, 503: 5} {
		f.faulty(fmt.Sprintf(`[{"name":"s%d","when":{"first":1,"path":"/operators/orange/orange-money-webpay/*"},
			"operator":{"status":%[1]d}}]`, status))
		got := o.call(orangePay, o.order(fmt.Sprint("s-", status)))
		if got.status != status || got.body["code"] != code {
			t.Errorf("it is answered %d %s", got.status, got.raw)
		}
	}
	f.faulty("[]")
	p := o.place("late")
	p.confirm(awa, f.code(awa))
	f.faulty(`[{"name":"late","operator":{"statusStaysPending":"1h"}}]`)
	if got := p.state(); got != "PENDING" {
		t.Errorf("it is told as %q", got)
	}
	f.faulty("[]")
	for status, words := range map[int]string{429: "Trop de requêtes", 500: "Service indisponible", 502: "Service indisponible", 503: "Service indisponible"} {
		f.faulty(fmt.Sprintf(`[{"name":"p%d","when":{"first":1,"path":"/operators/orange/payment/*"},"operator":{"status":%[1]d}}]`, status))
		p := o.place(fmt.Sprint("page-", status))
		p.open().is(t, status, words)
		p.open().is(t, http.StatusOK, "Confirmer le paiement")
	}
	// A page that cannot be read does not say that nothing was paid.
	f.faulty(`[{"name":"paid","when":{"path":"/operators/orange/payment/*"},"operator":{"status":503}}]`)
	if got := o.place("paid"); strings.Contains(got.open().text, "Rien n") {
		t.Errorf("the page of an unknown state says %s", got.open().text)
	}
	f.faulty("[]")
	p = o.place("down")
	f.faulty(`[{"name":"down","when":{"first":1},"operator":{"status":503}}]`)
	p.confirm(awa, f.code(awa)).is(t, http.StatusServiceUnavailable, "Service indisponible")
	p.confirm(awa, f.code(awa)).is(t, http.StatusOK, "Paiement effectué")
	f.config.MonthlyQuota = new(int64(1))
	f.sandbox(f.config, key)
	o.place("last").confirm(awa, f.code(awa))
	p = o.place("over")
	for range 6 { // a right code does not count as a wrong one
		p.confirm(awa, f.code(awa)).is(t, http.StatusServiceUnavailable, "Service indisponible")
	}
	f.config.MonthlyQuota = nil
	f.sandbox(f.config, key)
	p.confirm(awa, f.code(awa)).is(t, http.StatusOK, "Paiement effectué")
	f.conserved()
}

// No token of an order comes into the request log, whether it stands in a path, a body or an answer.
func TestRequestLogHasNoSecretOfOrange(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	f.requests("&all=true") // what succeeds is kept too
	f.follow()
	p := o.place("o-1")
	p.open()
	p.state()
	code := f.code(awa)
	p.confirm(awa, wrongCode(code))
	p.open("msisdn", p.payToken, "otp", p.payToken, "action", p.payToken)
	(&placed{orange: o, page: p.page + "?pay_token=" + p.payToken}).open()
	(&placed{orange: o, page: strings.Replace(p.page, p.payToken, strings.Repeat("a", 64), 1)}).open()
	o.send("GET", "/payment/none/"+p.payToken, "", "Authorization", "Bearer "+o.bearer)
	for _, field := range []string{"order_id", "amount", "currency", "lang", "reference", "return_url", "cancel_url", "notif_url", "pay_token"} {
		for _, secret := range []string{p.payToken, p.notifToken, o.bearer, o.UserKey, o.Secret["orange-merchant-key"]} {
			o.call(orangePay, o.order("o-x", object{field: "https://shop.example/" + secret}))
			o.call(orangeStatus, object{"order_id": "o-1", "amount": 1, "pay_token": p.payToken, field: secret})
		}
	}
	f.logged()
	logged := f.call("GET", "/v1/requests?limit=100&all=true", nil).raw
	for name, secret := range map[string]string{
		"pay token": p.payToken, "notification token": p.notifToken, "token": o.bearer, "secret": o.UserKey,
		"merchant key": o.Secret["orange-merchant-key"], "client": o.User, "code": code,
	} {
		if strings.Contains(logged, secret) {
			t.Errorf("the log has the %s", name)
		}
	}
	if !strings.Contains(logged, "/operators/orange/payment/pay_token/{...}") || !strings.Contains(logged, "webpayment") {
		t.Errorf("the log has no page, or no call: %s", logged)
	}
}
