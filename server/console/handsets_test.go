package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	awa = "+250788100001"
	zoe = "+2250505000001"
)

// phones adds two test clients with the behavior Manual: one in Rwanda, and one in Côte d'Ivoire.
func (f *fixture) phones() {
	f.t.Helper()
	f.config.Environments = append(f.config.Environments, sandboxes.EnvironmentConfig{
		Operator: payments.MTN, Country: "CI", Enabled: true, UnknownPolicy: payments.Reject, Terms: payments.Terms{CommissionBPS: 72},
	})
	f.config.OpeningFloat[payments.XOF] = 0
	f.apply(f.config, key)
	for _, msisdn := range []string{awa, zoe} {
		f.create(key, "/v1/test_clients", fmt.Sprintf(`{"msisdn":%q,"name":%q,"balance":50000,"behavior":"Manual"}`, msisdn, hostile+msisdn))
	}
}

// answer sends the form of a phone that asks for a PIN.
func (b *browser) answer(number, id string, form url.Values) answer {
	b.t.Helper()
	form.Set("back", "/handsets")
	return b.post(checkout, "/handsets/"+number+"/prompts/"+id, form)
}

func TestPhonesRing(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	b.get(checkout+"/handsets").has(t, "No phone yet", "behavior: Manual")
	f.phones()
	idle := b.get(checkout + "/handsets")
	idle.has(t, "MTN RW *182#", "MTN CI *133#", "+250 788 100 001", "+225 05 05 00 00 01", "Idle", "RWF 50,000", "I answer always: it is Manual")
	if strings.Contains(idle.text, `name="pin"`) || strings.Contains(idle.text, "<script>alert") {
		t.Errorf("phones that nobody asks, with names that are no text: %s", idle.text)
	}
	rwanda := f.pay(key, awa, "ref-1", "")
	f.create(key, "/v1/payments", `{"amount":15000,"currency":"fcfa","msisdn":"`+zoe+`","reference":"ref-2","application":"shop"}`)
	ringing := b.get(checkout + "/handsets")
	ringing.has(t, "Handsets 2 phones ring", "MTN MoMo *182# Pay shop RWF 2,000 Fee RWF 0. Enter your PIN to confirm.",
		"MTN MoMo *133# Paiement à shop 15 108 FCFA 15 000 + frais 108. Tapez votre code secret pour valider.", "Annuler Valider", "59 min left")
	if n := strings.Count(ringing.text, `name="pin"`); n != 2 || !strings.Contains(ringing.text, `lang="fr"`) {
		t.Errorf("%d phones ask for a PIN", n)
	}
	f.pay(key, awa, "ref-3", "")
	b.get(checkout+"/handsets").has(t, "1 more waits")
	got := b.answer(awa, rwanda, url.Values{"pin": {"1234"}})
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || to != "../../../handsets" {
		t.Fatalf("the PIN answered %d to %q: %s", got.status, to, got.text)
	}
	if got := b.answer(awa, rwanda, url.Values{"answer": {"cancel"}}); got.status != http.StatusSeeOther {
		t.Errorf("an answer after another one: %d", got.status)
	}
	b.get(checkout+"/handsets").has(t, "RWF 48,000")
}

// A phone shows nothing of a failed disbursement, because no operator informs the recipient.
func TestPhonesTellNothingOfFailedDisbursements(t *testing.T) {
	f := newFixture(t)
	f.phones()
	b := f.signedIn(checkout, key)
	f.ask(key, http.MethodPost, "/v1/disbursements", `{"amount":900000,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"`+awa+`","reference":"out-1","application":"shop"}`)
	b.get(checkout+"/payments").has(t, "out-1")
	if got := b.get(checkout + "/handsets"); strings.Contains(words(got.text), "Pay shop") {
		t.Errorf("the phone shows a payment: %s", words(got.text))
	}
}

func TestPINsBecomeOutcomes(t *testing.T) {
	f := newFixture(t)
	f.phones()
	b := f.signedIn(checkout, key)
	for i, c := range []struct {
		form            url.Values
		status, message string
	}{
		{url.Values{"pin": {"7391"}}, "Success", "You have paid RWF 2,000 to SHOP. Fee RWF 0. New balance RWF 48,000. Txn SIM_"},
		{url.Values{"pin": {"0000"}}, "Wrong PIN", "Pay shop RWF 2,000 Wrong PIN. Nothing was paid."},
		{url.Values{"answer": {"cancel"}}, "Cancelled by payer", "You have cancelled. Nothing was paid."},
	} {
		id := f.pay(key, awa, fmt.Sprint("ref-", i), "")
		if got := b.answer(awa, id, c.form); got.status != http.StatusSeeOther {
			t.Errorf("%v answered %d: %s", c.form, got.status, got.text)
		}
		b.get(checkout+"/handsets").has(t, c.message, "New message "+c.status)
	}
	id := f.pay(key, awa, "ref-9", "")
	for _, wrong := range []string{"", "123", "12345", "abcd", "１２３４"} {
		got := b.answer(awa, id, url.Values{"pin": {wrong}})
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, "A PIN has four digits") {
			t.Errorf("the PIN %q answered %d: %s", wrong, got.status, got.text)
		}
	}
	for path, form := range map[string]url.Values{
		"/handsets/" + zoe + "/prompts/" + id:      {"pin": {"1234"}},
		"/handsets/" + awa + "/prompts/x":          {"pin": {"1234"}},
		"/handsets/+25078/prompts/" + id + "":      {"pin": {"1234"}},
		"/handsets/" + stranger + "/prompts/" + id: {"pin": {"1234"}},
	} {
		if got := b.post(checkout, path, form); got.status != http.StatusNotFound {
			t.Errorf("%s answered %d", path, got.status)
		}
	}
	if err := f.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := f.log.List(t.Context(), f.of("checkout").Tenant, requests.Filter{Succeeded: true}, nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	answers := 0
	for _, e := range entries {
		if strings.Contains(e.Path, "/handsets/"+awa+"/prompts/TX_") && strings.HasPrefix(e.Actor, "console session cs_") {
			answers++
		}
		text := fmt.Sprintf("%s %s %s %q %s", e.Path, e.Query, e.Hint, e.NotKept, e.RequestBody)
		if strings.Contains(text, "7391") || strings.HasPrefix(e.Path, "/console") && (e.RequestBody != nil || e.ResponseBody != nil) {
			t.Errorf("the request log has a PIN: %s %s", text, e.ResponseBody)
		}
	}
	if answers < 3 {
		t.Errorf("%d answers are in the request log", answers)
	}
}

// A phone without a message sleeps. A blocked phone says that it is blocked.
func TestPhonesSleep(t *testing.T) {
	f := newFixture(t)
	f.phones()
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788100002","state":"Blocked"}`)
	b := f.signedIn(checkout, key)
	b.answer(awa, f.pay(key, awa, "ref-1", ""), url.Values{"pin": {"1234"}})
	b.get(checkout+"/handsets").has(t, "You have paid", "SIM blocked MTN MoMo account suspended", "Payments end ACCOUNT_BLOCKED")
	f.exec("update transactions set completed_at = completed_at - interval '61 minutes'")
	if got := b.get(checkout + "/handsets"); strings.Contains(got.text, "You have paid") {
		t.Errorf("an hour later the message lights the screen: %s", words(got.text))
	}
}

func TestHandsetsAreTurnedByPages(t *testing.T) {
	f := newFixture(t)
	for i := range 30 {
		f.create(key, "/v1/test_clients", fmt.Sprintf(`{"msisdn":"+2507881000%02d"}`, i))
	}
	b := f.signedIn(checkout, key)
	first, second := b.get(checkout+"/handsets").text, b.get(checkout+"/handsets?after=%2B250788100023").text
	if !strings.Contains(first, `href="handsets?after=%2B250788100023">Next`) || !strings.Contains(second, `aria-disabled="true">Next`) {
		t.Error("the first page has no link to the second, or the second to a third")
	}
	if one, two := strings.Count(first, "<article"), strings.Count(second, "<article"); one != 24 || two != 6 {
		t.Errorf("%d and %d phones, want 24 and 6", one, two)
	}
}

// A viewer sees that a phone rings, but cannot answer it.
func TestViewersAnswerNoPhone(t *testing.T) {
	f := newFixture(t)
	f.phones()
	f.pay(key, awa, "ref-1", "")
	got := f.viewer().get(checkout + "/handsets")
	got.has(t, "Pay shop RWF 2,000")
	if strings.Contains(got.text, `name="pin"`) || strings.Contains(got.text, "/prompts/TX_") {
		t.Errorf("a viewer is asked for a PIN: %s", got.text)
	}
}

// The switch lets a person answer a phone that otherwise approves automatically, and shows for how long.
func TestSwitchOfAPhone(t *testing.T) {
	f := newFixture(t)
	f.phones()
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788100002","name":"Clarisse"}`)
	b := f.signedIn(checkout, key)
	page := b.get(checkout + "/handsets")
	page.has(t, "I answer now: approves by itself")
	if n := strings.Count(page.text, `role="switch"`); n != 1 {
		t.Errorf("%d phones have the switch, want that which is not Manual", n)
	}
	b.post(checkout, "/handsets/+250788100002/manual", url.Values{"on": {"true"}, "back": {"/handsets"}})
	on := b.get(checkout + "/handsets")
	on.has(t, "I answer for 30 min")
	if !strings.Contains(on.text, `aria-checked="true" name="on" value="false"`) {
		t.Error("the switch is not on")
	}
	b.post(checkout, "/handsets/+250788100002/manual", url.Values{"on": {"false"}, "back": {"/handsets"}})
	b.get(checkout+"/handsets").has(t, "I answer now: approves by itself")
	if got := b.post(checkout, "/handsets/"+stranger+"/manual", url.Values{"on": {"true"}}); got.status != http.StatusNotFound {
		t.Errorf("an unknown number answered %d", got.status)
	}
}

// guest returns a browser that has used a link to the phone of awa.
func (f *fixture) guest() *browser {
	f.t.Helper()
	b := f.browser()
	link := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleHandset, MSISDN: awa})
	got := b.send(http.MethodPost, checkout+"/link", url.Values{"token": {link}})
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || to != "handsets/"+awa {
		f.t.Fatalf("the link answered %d to %q: %s", got.status, to, got.text)
	}
	return b
}

// A guest can use only one phone, and nothing else of the sandbox.
func TestGuestsUseOnePhone(t *testing.T) {
	f := newFixture(t)
	f.phones()
	mine, theirs := f.pay(key, awa, "ref-1", ""), f.create(key, "/v1/payments",
		`{"amount":15000,"currency":"XOF","msisdn":"`+zoe+`","reference":"ref-2","application":"shop"}`)
	theirs = theirs[strings.LastIndex(theirs, "/")+1:]
	b := f.guest()
	page := b.get(checkout + "/handsets/" + awa)
	page.has(t, "+250 788 100 001", "Pay shop RWF 2,000", "Do not type a real PIN.", "You use one phone, for 7 h 59 min.")
	for _, other := range []string{zoe, "+225 05", "Payments", "Overview", "RWF 50,000"} {
		if strings.Contains(page.text, other) {
			t.Errorf("the page of a guest has %q: %s", other, words(page.text))
		}
	}
	token := url.Values{"token": {tokenField.FindStringSubmatch(page.text)[1]}, "pin": {"1234"}, "back": {"/handsets/" + awa}}
	for path, method := range map[string]string{
		"/handsets/" + zoe:                             http.MethodGet,
		"/handsets/" + zoe + "/prompts/" + theirs:      http.MethodPost,
		"/handsets/%2B2250505000001/prompts/" + theirs: http.MethodPost,
		"/handsets/" + awa + "/manual":                 http.MethodPost,
		"/handsets/" + awa + "/link":                   http.MethodPost,
		"/handsets":                                    http.MethodGet,
	} {
		if got := b.send(method, checkout+path, token); got.status != http.StatusForbidden {
			t.Errorf("%s %s answered %d", method, path, got.status)
		}
	}
	if got := b.send(http.MethodPost, checkout+"/handsets/"+awa+"/prompts/"+theirs, token); got.status != http.StatusNotFound {
		t.Errorf("the prompt of another phone answered %d", got.status)
	}
	if got := b.get(checkout + "/"); got.header.Get("Location") != "handsets/"+awa {
		t.Errorf("the console of a guest begins at %q", got.header.Get("Location"))
	}
	got := b.send(http.MethodPost, checkout+"/handsets/"+awa+"/prompts/"+mine, token)
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || to != "../../../handsets/"+awa {
		t.Errorf("the PIN answered %d to %q: %s", got.status, to, got.text)
	}
	b.get(checkout+"/handsets/"+awa).has(t, "You have paid RWF 2,000 to SHOP.")
	if got := b.post(checkout, "/sign-out", nil); got.status != http.StatusForbidden {
		t.Errorf("a form without its token answered %d", got.status)
	}
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788100005"}`)
	gone := f.signedIn(checkout, key)
	gone.get(checkout+"/handsets/+250788100009").has(t, "There is no such phone")
}

// The stream of a guest has no changes of other phones.
func TestStreamOfAGuestIsOfOnePhone(t *testing.T) {
	f := newFixture(t)
	f.phones()
	lines, _ := f.guest().readStream(t.Context(), checkout+"/stream")
	until := func(want string) (before int) {
		t.Helper()
		for {
			select {
			case line := <-lines:
				if line == want {
					return before
				}
				if strings.HasPrefix(line, "data: ") {
					before++
				}
			case <-time.After(time.Minute):
				t.Fatalf("no %s", want)
			}
		}
	}
	until("data: ready")
	f.create(key, "/v1/payments", `{"amount":15000,"currency":"XOF","msisdn":"`+zoe+`","reference":"ref-1","application":"shop"}`)
	f.pay(key, awa, "ref-3", "")
	if before := until("data: transaction"); before != 0 {
		t.Errorf("the stream tells of %d changes before that of the phone", before)
	}
	select {
	case line := <-lines:
		if strings.HasPrefix(line, "data: ") {
			t.Errorf("and of another one: %s", line)
		}
	case <-time.After(500 * time.Millisecond):
	}
}

// Each display of the QR code makes another link, which opens the phone once.
func TestQRCodeOfAPhone(t *testing.T) {
	f := newFixture(t)
	f.phones()
	b := f.signedIn(checkout, key)
	linkOf := regexp.MustCompile(`data-copy="([^"]*/console/link\?token=(cauri_cl_handset_[^"]*))"`)
	var links []string
	for range 2 {
		got := b.post(checkout, "/handsets/"+awa+"/link", nil)
		got.has(t, "The link opens this phone and nothing else.", "Only this machine reaches the link.")
		found := linkOf.FindStringSubmatch(got.text)
		if got.status != http.StatusOK || found == nil || !strings.HasPrefix(found[1], f.url) || !strings.Contains(got.text, `<path d="M4 4h1v1h-1z`) {
			t.Fatalf("the code is %d %s", got.status, got.text)
		}
		links = append(links, found[2])
	}
	if links[0] == links[1] {
		t.Error("both displays have the same link")
	}
	for _, link := range links {
		if got := f.browser().send(http.MethodPost, checkout+"/link", url.Values{"token": {link}}); got.header.Get("Location") != "handsets/"+awa {
			t.Errorf("the link answered %d to %q", got.status, got.header.Get("Location"))
		}
	}
	f.logged()
	f.exec("do $$ begin if exists (select from requests r where r::text like '%cauri_cl_%') then raise 'a token is in the request log'; end if; end $$")
	if got := b.post(checkout, "/handsets/"+stranger+"/link", nil); got.status != http.StatusNotFound {
		t.Errorf("the code of nobody's phone answered %d", got.status)
	}
}
