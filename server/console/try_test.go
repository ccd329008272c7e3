package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// paymentForm returns the form of a payment. changes has pairs of a field and a value.
func paymentForm(changes ...string) url.Values {
	form := url.Values{
		"kind": {"collection"}, "number": {"+250 788 000 001"}, "amount": {"12,500"}, "application": {"shop"}, "reference": {"by-hand-1"},
	}
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return form
}

// inLog returns the requests in the log, newest first: method, path, status and error code, and whether a session or a
// client sent it.
func (f *fixture) inLog() (all []string) {
	f.t.Helper()
	if err := f.log.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	entries, err := f.log.List(f.t.Context(), f.of("checkout").Tenant, requests.Filter{Succeeded: true}, nil, 100)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		by := "client"
		if strings.HasPrefix(e.Actor, "console session cs_") && strings.HasSuffix(e.Actor, ", full") {
			by = "session"
		}
		all = append(all, strings.Join(strings.Fields(fmt.Sprintf("%s %s %d %s by %s", e.Method, e.Path, e.Status, e.Error, by)), " "))
	}
	return all
}

// A payment by the form is a payment of the API: it is recorded once for a reference, and the log names the session.
func TestPaymentByHand(t *testing.T) {
	f := newFixture(t)
	f.config.LatencyPercent = 100
	f.apply(f.config, key)
	b := f.signedIn(checkout, key)
	got := b.post(checkout, "/try", paymentForm("scenario", "success", "order_ref", "order-7"))
	got.has(t, "It is done. Its status is SUCCESS.", "HTTP/1.1 201 Created", `"source": "api"`, `"amount": 12500`, `"currency": "RWF"`,
		`"reference": "by-hand-1"`, "s for this answer, as an operator takes its time.")
	if got.status != http.StatusOK {
		t.Errorf("the form answered %d", got.status)
	}
	again := b.post(checkout, "/try", paymentForm("scenario", "success", "order_ref", "order-7"))
	again.has(t, "This reference was sent before.", "Idempotent-Replayed: true")
	if list := b.get(checkout + "/payments").text; strings.Count(list, "data-key=") != 1 {
		t.Errorf("two equal requests recorded %d payments", strings.Count(list, "data-key="))
	}
	b.post(checkout, "/try", paymentForm("scenario", "success", "amount", "")).has(t, "Refused: one field is wrong.", "is required, for example 25000")
	want := []string{
		"POST /console/try 400 invalid_body by session", "POST /v1/payments 400 invalid_body by session",
		"POST /console/try 200 by session", "POST /console/try 200 by session", "POST /console/sign-in 303 by session",
	}
	if all := f.inLog(); strings.Join(all, "\n") != strings.Join(want, "\n") {
		t.Errorf("the request log has\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
}

// The pages link to the descriptions of the operators' own APIs.
func TestTryItNamesTheOperatorsAPIs(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	for _, page := range []string{"/try", "/setup"} {
		text := b.get(checkout + page).text
		for operator, want := range map[string]bool{"mtn": true, "moov": false} {
			if got := strings.Contains(text, `href="../docs/`+operator+`"`); got != want {
				t.Errorf("%s leads to the API of %s: %v, want %v", page, operator, got, want)
			}
		}
	}
}

// The message of a refusal is under its field, and says what to write.
func TestWrongFieldsOfARequestByHand(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	for name, c := range map[string]struct {
		form        url.Values
		status      int
		field, says string
	}{
		"an amount":     {paymentForm("amount", "ten"), 400, "amount", "expected integer"},
		"a number":      {paymentForm("number", "0788"), 400, "number", "an E.164 number with its leading +"},
		"no operator":   {paymentForm("number", "+33612345678"), 400, "market", "cannot be detected from the msisdn"},
		"a market":      {paymentForm("market", "orange CI"), 404, "market", "no enabled environment for the operator orange in CI"},
		"a store":       {paymentForm("application", "nowhere"), 404, "application", `no store "nowhere"`},
		"a description": {paymentForm("description", strings.Repeat("x", 201)), 400, "description", "expected length <= 200"},
		"no payment":    {url.Values{"kind": {"refund"}, "payment": {"../x"}}, 422, "payment", "It begins with TX_."},
		"another one": {
			url.Values{"kind": {"refund"}, "payment": {"TX_0000000000000000000000000G"}, "reference": {"r"}}, 404, "payment", "no transaction",
		},
	} {
		got := b.post(checkout, "/try", c.form)
		_, behind, found := strings.Cut(got.text, `id="w-`+c.field+`"`)
		text, _, _ := strings.Cut(behind, "</span>")
		if got.status != c.status || !found || !strings.Contains(words(text), c.says) || !strings.Contains(got.text, `aria-invalid="true"`) {
			t.Errorf("%s: %d, under the field: %q, want %d and %q", name, got.status, words(text), c.status, c.says)
		}
	}
	if list := b.get(checkout + "/payments").text; strings.Contains(list, "data-key=") {
		t.Error("a refused request recorded a payment")
	}
}

// Quota, rate limit, faults and suspension also apply to requests by the form.
func TestLimitsOfRequestsByHand(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	with := func(change func(*sandboxes.Config)) {
		config := f.config
		change(&config)
		f.apply(config, key)
		f.of("checkout")
	}
	with(func(c *sandboxes.Config) { c.MonthlyQuota = new(int64(1)) })
	b.post(checkout, "/try", paymentForm("scenario", "success"))
	b.post(checkout, "/try", paymentForm("scenario", "success", "reference", "by-hand-2")).has(t, "Refused with 402:")
	with(func(c *sandboxes.Config) { c.RateLimit = new(int32(1)) })
	b.post(checkout, "/try", paymentForm("scenario", "success", "reference", "by-hand-3")).has(t, "201 Created")
	b.post(checkout, "/try", paymentForm("scenario", "success", "reference", "by-hand-4")).has(t, "Refused with 429:", "Retry-After:")
	with(func(c *sandboxes.Config) {
		c.Faults = []byte(`[{"name":"lost","when":{"reference":"lost-*"},"api":{"dropConnection":"AfterCommit"}},` +
			`{"name":"down","when":{"reference":"down-*"},"api":{"status":503}},{"name":"broken","api":{"malformedBody":true}}]`)
	})
	b.post(checkout, "/try", paymentForm("scenario", "success", "reference", "lost-1")).has(t, "The connection was closed without an answer.")
	b.post(checkout, "/try", paymentForm("scenario", "success", "reference", "down-1")).has(t, "Refused with 503:", "X-Cauri-Fault: down")
	b.post(checkout, "/try", paymentForm("scenario", "success", "reference", "cut-1")).has(t, "It is recorded, and its answer is broken.")
	b.get(checkout+"/try?fault=lost").has(t, "The form is filled in for it.")
	b.get(checkout+"/payments?order=lost-1").has(t, "Success")
	with(func(c *sandboxes.Config) { c.Suspended = true })
	b.post(checkout, "/try", paymentForm("reference", "by-hand-5")).has(t, "Refused with 503:", "suspended")
}

// A person can choose to answer a phone that approves automatically: then it rings, and the form says so.
func TestAnswerThePhoneOfTryIt(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788000001","name":"jean","balance":20000}`)
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788000003","name":"aline","balance":20000}`)
	b := f.signedIn(checkout, key)
	b.get(checkout+"/try?payer=%2B250788000003").has(t, "Its holder approves at once.", "I answer this phone, for 30 minutes")
	rings := b.post(checkout, "/try", paymentForm("number", "", "payer", "+250788000003", "answering", "me"))
	rings.has(t, "aline\u2069's phone rings.", `"status": "PENDING"`, "Its phone rings until somebody answers.")
	b.get(checkout+"/try").has(t, `"msisdn": "+250788000003"`, "Its phone rings until somebody answers.")
	b.post(checkout, "/try", paymentForm("number", "+250788999999", "answering", "me", "reference", "by-hand-2")).has(t, "It is recorded, and nothing moved: Unknown number.")
}

// The form is filled in for the first phone that a person answers, for a payment like another one, or from the query.
func TestFormOfTryIt(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788000001","name":"jean"}`)
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788000003","name":"aline","behavior":"Manual","balance":20000}`)
	page := b.get(checkout + "/try")
	page.has(t, "Pay RWF 15,000", "MTN RW. Its phone rings until somebody answers.", `"msisdn": "+250788000003"`, `SHOP-PAY-`)
	b.get(checkout+"/try?kind=disbursement&payer=%2B250788000001&amount=700").has(t, "Send RWF 700", "POST", `/api/v1/disbursements`, `"operator": "mtn"`)
	got := b.post(checkout, "/try", paymentForm("number", "", "payer", "+250788000003"))
	got.has(t, "aline\u2069's phone rings.", "Type any four digits there.")
}

// A refund by the form goes through the API. It is made once for each form, and the message of a refusal is at the
// amount.
func TestRefundByHand(t *testing.T) {
	f := newFixture(t)
	tx := f.pay(key, stranger, "ref-1", `,"scenario":"success"`)
	b := f.signedIn(checkout, key)
	page := b.get(checkout + "/payments/" + tx)
	page.has(t, "Refund…", "RWF 2,000 is left to refund. Empty: all of it.")
	reference := regexp.MustCompile(`name="reference" value="([^"]+)"`).FindStringSubmatch(page.text)
	if reference == nil {
		t.Fatal("the dialog has no reference")
	}
	form := func(amount string) url.Values {
		return url.Values{"amount": {amount}, "reason": {"Too large"}, "reference": {reference[1]}}
	}
	much := b.post(checkout, "/payments/"+tx+"/refund", form("2,001"))
	much.has(t, "RWF 2,000 is left to refund.")
	if much.status != http.StatusUnprocessableEntity || !strings.Contains(words(part(much.text, `id="amount-wrong-page"`, "</span>")), "2000") {
		t.Errorf("too much: %d %s", much.status, words(much.text))
	}
	for range 2 { // a double click
		got := b.post(checkout, "/payments/"+tx+"/refund", form("500"))
		if got.status != http.StatusSeeOther || got.header.Get("Location") != "../../payments/"+tx {
			t.Fatalf("%d to %s: %s", got.status, got.header.Get("Location"), words(got.text))
		}
	}
	b.get(checkout+"/payments/"+tx).has(t, "RWF 500 of it went back; 1,500 can still be refunded.")
	refund := regexp.MustCompile(`data-key="(TX_[^"]+)"`).FindStringSubmatch(b.get(checkout + "/payments?type=refund").text)
	b.get(checkout+"/payments/"+refund[1]).has(t, "Description Too large", reference[1], `"description": "Too large"`)
	if strings.Contains(f.viewer().get(checkout+"/payments/"+tx).text, "Refund…") {
		t.Error("a viewer is offered a refund")
	}
	b.get(checkout+"/payments/"+refund[1]+"/refund").has(t, "Nothing of this transaction can be refunded.")
	for _, wrong := range []struct {
		tx, amount, reason, says string
	}{{tx, "none", "", "expected integer"}, {tx, "", strings.Repeat("x", 201), "expected length <= 200"}, {refund[1], "", "", "not_refundable"}} {
		got := b.post(checkout, "/payments/"+wrong.tx+"/refund", url.Values{"amount": {wrong.amount}, "reason": {wrong.reason}, "reference": {"other"}})
		if got.status/100 != 4 || wrong.says != "not_refundable" && !strings.Contains(words(got.text), wrong.says) {
			t.Errorf("%+v: %d %s", wrong, got.status, words(got.text))
		}
	}
}

// The examples of a sandbox are of its first enabled environment, also in what a refusal says.
func TestExamplesAreOfTheSandbox(t *testing.T) {
	f := newFixture(t)
	f.config.Environments[0].Operator, f.config.Environments[0].Country = payments.Orange, "CI"
	f.config.OpeningFloat, f.config.TestNumbers = map[payments.Currency]int64{payments.XOF: 100_000}, payments.StandardTestNumbers
	f.apply(f.config, key)
	f.of("checkout")
	b := f.signedIn(checkout, key)
	b.get(checkout+"/handsets/new").has(t, "for example +225 0")
	b.post(checkout, "/handsets/new", url.Values{"number": {"0788"}}).has(t, "for example +2250")
	for _, page := range []string{"/handsets", "/handsets/new", "/payments", "/try", "/faults"} {
		if text := b.get(checkout + page).text; strings.Contains(text, "+250") || strings.Contains(text, "RWF") {
			t.Errorf("%s has an example of Rwanda", page)
		}
	}
	try := b.get(checkout + "/try").text
	if group := part(try, `<optgroup label="Test numbers of Orange CI">`, "</optgroup>"); !strings.Contains(group, ">The payer approves. +225\u00a0") {
		t.Errorf("the test numbers: %s", group)
	}
}
