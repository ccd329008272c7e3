package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestSingleKeysAreSwitchedOff(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	on := func() bool { return strings.Contains(b.get(checkout+"/payments").text, " data-keys") }
	if !on() {
		t.Error("at first the keys are off")
	}
	for _, value := range []string{"off", "on"} {
		got := b.post(checkout, "/keys", url.Values{"keys": {value}, "back": {"/setup"}})
		if got.status != http.StatusSeeOther || on() != (value == "on") {
			t.Errorf("%s: %d, the keys are on: %t", value, got.status, on())
		}
	}
	b.get(checkout+"/setup").has(t, "The next row of a list", "Single keys on")
}

// A wrong key in the sign-in form is no request of the merchant's code. The log shows it with the changes.
func TestRefusedSignInsStandAmongTheChanges(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	f.browser().send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {"wrong"}})
	f.ask(key, http.MethodPost, "/v1/payments", `{"msisdn":"+250788000001"}`)
	if err := f.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused := b.get(checkout + "/requests")
	refused.has(t, "POST /v1/payments", `"amount" was not sent is required`, "1 request refused in the last hour")
	if strings.Contains(refused.text, "/console/sign-in") {
		t.Errorf("a sign-in stands among the refused requests: %s", words(refused.text))
	}
	for _, show := range []string{"changes", "all"} {
		b.get(checkout+"/requests?show="+show).has(t, "POST /console/sign-in", "it came without a valid key")
	}
}

func TestSuspendedSandboxIsNotReconnecting(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	stopped := func() bool {
		return !strings.Contains(part(b.get(checkout+"/payments").text, `id="stopped"`, ">"), "hidden")
	}
	if stopped() {
		t.Error("a sandbox that runs is said to be suspended")
	}
	f.config.Suspended = true
	f.apply(f.config, key)
	f.of("checkout")
	if !stopped() {
		t.Error("a suspended sandbox is not said to be")
	}
}

// Pages show texts of merchants without marks of the direction of writing.
func TestTextsOfMerchantsTurnNothing(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788100001","name":"A\u2066wa","balance":5000}`)
	tx := f.pay(key, "+250788100001", "open\u202e1", `,"order_ref":"order\u20661","description":"\u2067two"`)
	b := f.signedIn(checkout, key)
	for _, path := range []string{"/overview", "/payments", "/payments/" + tx, "/ledger", "/ledger/+250788100001", "/handsets"} {
		text := b.get(checkout + path).text
		for _, mark := range []string{"\u2066", "\u2067", "\u202e"} {
			if strings.Contains(strings.ReplaceAll(text, `data-copy="open`+mark, ""), mark) {
				t.Errorf("%s has %q: %q", path, mark, part(text, mark, "<"))
			}
		}
		if !strings.Contains(text, "order1") && !strings.Contains(text, "Awa") {
			t.Errorf("%s has neither order nor name", path)
		}
	}
}
