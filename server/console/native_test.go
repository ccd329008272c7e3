package console_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// nativeDigests returns the digests of the operators' credentials for an API key, as the controller stores them.
func nativeDigests(key string) []byte {
	digests := sandboxes.NativeDigests{}
	for _, api := range operators.NativeAPIs() {
		c := api.Derive(key)
		digests[api.Operator] = sandboxes.DigestOf(c.Key, c.User, c.UserKey).With(c.Checked)
	}
	return digests.Encode()
}

// askOperator sends a request to an operator's own API, and returns the answer. header has pairs of a name and a value.
func (f *fixture) askOperator(operator payments.Operator, path, body string, header ...string) map[string]any {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+"/operators/"+string(operator)+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	c := operators.NativeAPI(operator).Derive(key)
	r.SetBasicAuth(c.User, c.UserKey) // an Authorization in header replaces it
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	var told map[string]any
	if err != nil || got.StatusCode/100 != 2 || len(text) > 0 && json.Unmarshal(text, &told) != nil {
		f.t.Fatalf("%s answered %d %s, %v", path, got.StatusCode, text, err)
	}
	return told
}

// payByMTN makes a payment by MTN's own API. callback is its callback URL; empty for none.
func (f *fixture) payByMTN(order, callback string) {
	f.t.Helper()
	subscription := []string{"Ocp-Apim-Subscription-Key", operators.NativeAPI(payments.MTN).Derive(key).Key, "X-Target-Environment", "mtnrwanda"}
	token := f.askOperator(payments.MTN, "/collection/token/", "", subscription...)["access_token"]
	sum := sha256.Sum256([]byte(order))
	header := append(subscription, "Authorization", fmt.Sprint("Bearer ", token), "X-Reference-Id",
		fmt.Sprintf("%x-0000-4000-8000-%x", sum[:4], sum[4:10]))
	if callback != "" {
		header = append(header, "X-Callback-Url", callback)
	}
	f.askOperator(payments.MTN, "/collection/v1_0/requesttopay", `{"amount":"100","currency":"RWF","externalId":"`+order+`",
		"payer":{"partyIdType":"MSISDN","partyId":"`+strings.TrimPrefix(stranger, "+")+`"},"payerMessage":"Two tickets","payeeNote":"shop"}`, header...)
}

// The list marks payments that came by an operator's own API.
func TestPaymentsByAnOperatorsOwnAPIAreMarked(t *testing.T) {
	f := newFixture(t)
	f.pay(key, stranger, "by-v1", "")
	f.payByMTN("by-mtn", "")
	got := words(f.signedIn(checkout, key).get(checkout + "/payments").text)
	if byMTN, byV1, ok := strings.Cut(got, "by-mtn"); !ok || !strings.Contains(byMTN, "MTN RW MTN's API") || strings.Contains(byV1, "MTN's API") {
		t.Errorf("the rows are %s", got)
	}
}

// The overview and the list of events show failing callbacks, and link to the newest one.
func TestCallbacksThatFailAreNamed(t *testing.T) {
	f := newFixture(t)
	f.config.CallbackHosts = []string{"127.0.0.1"}
	f.apply(f.config, key)
	b := f.signedIn(checkout, key)
	told := func(order, state, problem string, faults ...string) {
		f.payByMTN(order, "http://127.0.0.1:1/"+order)
		f.exec(`with n as (update native_callbacks c set state = $2::event_state, last_error = nullif($3, ''), due_at = null, attempts = 1
			from transactions t where t.id = c.transaction_id and t.order_ref = $1 returning c.*),
			failed as (insert into unacknowledged_events (tenant, id, operator, created_at, attempt)
				select tenant, id, 'mtn', now(), 1 from n where $3 <> '' and $4::text[] is null)
			insert into callback_attempts (tenant, id, attempt, started_at, real_started_at, duration_ms, error, faults)
			select tenant, id, 1, now(), now(), 31, nullif($3, ''), $4 from n`, order, state, problem, faults)
	}
	expect := func(want string, isWell bool) {
		t.Helper()
		overview := b.get(checkout + "/overview")
		overview.has(t, want)
		for name, page := range map[string]answer{"overview": overview, "webhooks": b.get(checkout + "/webhooks")} {
			named := strings.Contains(page.text, "Callbacks of MTN")
			led := regexp.MustCompile(`href="webhooks/evt_[^"]*">(<bdi>)?See why`).MatchString(page.text)
			if page.status != http.StatusOK || named == isWell || led == isWell {
				t.Errorf("%s: the page %s answers %d, names callbacks that fail: %t, and leads to one: %t", want, name, page.status, named, led)
			}
		}
	}
	told("order-1", "delivered", "")
	expect("Payments work.", true)
	told("order-2", "failed", "dial tcp 127.0.0.1:1: connect: connection refused")
	expect("Payments work, and one thing needs you. Callbacks of MTN's own API fail. Nothing listens at 127.0.0.1:1.", false)
	told("order-3", "failed", "the receiver answered 401")
	told("order-4", "delivered", "", "duplicates")
	told("order-5", "failed", "the receiver answered 503", "truncates")
	expect("Callbacks of MTN's own API fail. Your receiver answers 401.", false)
	b.get(checkout+"/overview").has(t, "MTN, 2 of the last 24 hours not acknowledged")
	f.heard()
	f.failing(f.pay(key, stranger, "ref-1", ""), "the receiver answered 500")
	expect("Payments work, and 2 things need you. Your receiver answers 500", false)
	told("order-6", "delivered", "")
	expect("Payments work, and 2 things need you.", false) // a later success does not acknowledge the failed ones
	f.exec("delete from unacknowledged_events")            // they are sent again
	f.exec("update endpoint_health set failures = 0")
	expect("Whether your receiver is well is not known", true)
	f.exec("update endpoint_health h set acknowledged_url = o.webhook_url from organizations o where o.tenant = h.tenant")
	expect("The ledger is not proven yet.", true)
	f.exec(`insert into account_proofs (tenant, account, verified_up_to, verified_at, balance, opening, adjustments, collections, refunds, disbursements)
		select tenant, currency, 1, now(), balance, balance, 0, 0, 0, 0 from floats`)
	expect("All is well", true)
}

// The page of a forwarded payment links to the operator's page until the payer has confirmed.
func TestPaymentLeadsToThePayersPage(t *testing.T) {
	f := newFixture(t)
	f.config.Environments[0].UnknownPolicy = payments.Passthrough
	f.apply(f.config, key)
	f.of("checkout")
	path := checkout + "/payments/" + f.pay(key, stranger, "ref-1", "")
	b, viewer := f.signedIn(checkout, key), f.browser()
	viewer.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	leads := func(b *browser, to string) bool {
		return regexp.MustCompile(`href="` + regexp.QuoteMeta(to) + `"[^>]*>.*Open the payer&#39;s page`).MatchString(b.get(path).text)
	}
	const page = "https://pay.example/pay_token/8f2b"
	if leads(b, page) {
		t.Error("a payment without a page leads to one")
	}
	f.exec(`update transactions set native_raw = '{"payment_url": "` + page + `"}'`)
	if !leads(b, page) || leads(viewer, page) {
		t.Errorf("it leads to the page: %t, a viewer: %t", leads(b, page), leads(viewer, page))
	}
	f.exec(`update transactions set native_raw = '{"payment_url": "javascript:alert(1)"}'`)
	if leads(b, "javascript:alert(1)") {
		t.Error("it leads to a script")
	}
	f.exec(`update transactions set native_raw = '{"payment_url": "` + page + `"}', status = 'TIMEOUT', completed_at = now(), due_at = null`)
	if leads(b, page) {
		t.Error("a payment that has ended leads to the page")
	}
}

// webPay is a merchant that sends payers to Orange's page.
type webPay struct {
	*fixture
	bearer string
}

func (f *fixture) webPay() webPay {
	f.t.Helper()
	ivory := f.config.Environments[0]
	ivory.Operator, ivory.Country = payments.Orange, payments.CoteDIvoire
	f.config.Environments = append(f.config.Environments, ivory)
	f.config.OpeningFloat[payments.XOF] = 0
	f.config.CallbackHosts = []string{"shop.example"}
	f.apply(f.config, key)
	f.of("checkout")
	token := f.askOperator(payments.Orange, "/oauth/v3/token", "grant_type=client_credentials", "Content-Type", "application/x-www-form-urlencoded")
	return webPay{f, fmt.Sprint("Bearer ", token["access_token"])}
}

// order opens an order, and returns the address of its page.
func (w webPay) order(id string) string {
	w.t.Helper()
	merchant := operators.NativeAPI(payments.Orange).Derive(key).Secret["orange-merchant-key"]
	return w.askOperator(payments.Orange, "/orange-money-webpay/dev/v1/webpayment", `{"merchant_key":"`+merchant+`","currency":"OUV",
		"order_id":"`+id+`","amount":1500,"return_url":"https://shop.example/","cancel_url":"https://shop.example/",
		"notif_url":"https://shop.example/"}`, "Authorization", w.bearer, "Content-Type", "application/json")["payment_url"].(string)
}

// Orders that wait for their payers are above the payments. Only sessions that may end an order get the link to its
// page.
func TestOrdersThatWaitForTheirPayer(t *testing.T) {
	f := newFixture(t)
	w := f.webPay()
	b, viewer := f.signedIn(checkout, key), f.browser()
	viewer.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	const title = "Orders that wait for their payer"
	if got := b.get(checkout + "/payments").text; strings.Contains(got, title) {
		t.Error("there is a list without an order")
	}
	first, second := w.order("order-1"), w.order("order-2")
	got := b.get(checkout + "/payments")
	got.has(t, title, "order-2 Orange CI XOF 1,500 until", "order-1 Orange CI XOF 1,500 until", "No payment yet")
	for _, page := range []string{first, second} {
		if !strings.Contains(got.text, `href="`+page+`"`) {
			t.Errorf("no link to %s: %s", page, got.text)
		}
		if answered, err := http.Get(page); err != nil || answered.StatusCode != http.StatusOK {
			t.Errorf("%s answers %v, %v", page, answered, err)
		}
	}
	seen := viewer.get(checkout + "/payments")
	seen.has(t, "order-1 Orange CI XOF 1,500 until")
	for name, text := range map[string]string{
		"a viewer": seen.text, "a filtered list": b.get(checkout + "/payments?status=PENDING").text,
		"another sandbox": f.signedIn(other, otherKey).get(other + "/payments").text, "nobody": f.browser().get(checkout + "/payments").text,
	} {
		if strings.Contains(text, "pay_token") {
			t.Errorf("%s sees the address of a page", name)
		}
	}
	if _, err := http.PostForm(first, url.Values{"action": {"cancel"}}); err != nil {
		t.Fatal(err)
	}
	if got := b.get(checkout + "/payments").text; strings.Contains(got, "order-1") || !strings.Contains(got, "order-2") {
		t.Error("a cancelled order waits, or another one does not")
	}
	f.exec("update native_orders set expires_at = now()")
	if got := b.get(checkout + "/payments").text; strings.Contains(got, "order-2") {
		t.Error("an order that has expired waits")
	}
}
