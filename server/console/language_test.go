package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func accepting(languages string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Accept-Language", languages) }
}

// Every page is in the language that a person has chosen, or else in that of the browser, also before signing in.
func TestLanguageOfPages(t *testing.T) {
	f := newFixture(t)
	b := f.browser()
	is := func(want, accepted string, path string) {
		t.Helper()
		got := b.send(http.MethodGet, checkout+path, nil, accepting(accepted))
		if !strings.Contains(got.text, `<html lang="`+want+`"`) || got.header.Get("Vary") != "Accept-Language, Cookie, Accept-Encoding" {
			t.Errorf("%s for %q has Vary %q and is not in %s: %.200s", path, accepted, got.header.Get("Vary"), want, got.text)
		}
	}
	for accepted, want := range map[string]string{
		"": "en", "fr": "fr", "fr-CI,fr;q=0.9,en;q=0.8": "fr", "de,fr;q=0.5": "fr", "en-RW,fr;q=0.1": "en", "zh": "en", "x;;,\x01": "en",
	} {
		is(want, strings.ReplaceAll(accepted, "\x01", "*"), "/sign-in")
	}
	for _, path := range []string{"/link?token=x", "/nothing"} {
		is("fr", "fr", path)
	}
	got := b.send(http.MethodPost, checkout+"/language", url.Values{"language": {"fr"}, "back": {"/sign-in"}})
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "sign-in" || !strings.Contains(got.header.Get("Set-Cookie"), "cauri_language=fr; Path=/;") {
		t.Errorf("the switch answered %d %v", got.status, got.header)
	}
	is("fr", "en", "/sign-in")
	b.send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {key}})
	is("fr", "en", "/overview")
	for _, back := range []string{"//evil.example.com", "https://evil.example.com", `/\evil.example.com`, "",
		"/\t/\t/evil.example.com", "/\n/evil.example.com", "/payments?order=\r\nx: y", "/payments\x7f", "/\u0085"} {
		if got := b.send(http.MethodPost, checkout+"/language", url.Values{"back": {back}}); got.header.Get("Location") != "./" {
			t.Errorf("%q leads to %q", back, got.header.Get("Location"))
		}
	}
	is("en", "en", "/overview") // the form without a language removes the choice
	foreign := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	got = b.send(http.MethodPost, checkout+"/language", url.Values{"language": {"fr"}}, foreign)
	if got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" {
		t.Errorf("another site chose the language: %d", got.status)
	}
}

// The texts of refusals are in the language of the page. The bodies of the answers stay as they are.
func TestRefusalsInFrench(t *testing.T) {
	f := newFixture(t)
	f.ask(key, http.MethodGet, "/v1/payments/TX_00000000000000000000000000", "")
	f.ask(key, http.MethodPost, "/v1/payments", `{"amount":"much","application":"shop"}`)
	f.logged()
	b := f.signedIn(checkout, key)
	for code, all := range map[string][]string{
		"not_found":    {"Aucune transaction de ce bac à sable n'a cet identifiant.", "Vérifiez l'identifiant, le numéro, la boutique et le chemin."},
		"invalid_body": {"Refusée : 4 champs sont faux.", "Corrigez les champs de detail.fieldErrors", "doit être un nombre entier, par exemple 25000", "manque, par exemple RWF"},
	} {
		text := b.send(http.MethodGet, checkout+"/requests?error="+code, nil, accepting("fr")).text
		one := words(part(text, `id="one"`, "</section>"))
		for _, want := range all {
			if !strings.Contains(one, want) || englishOf.MatchString(part(text, "<main", "</main>")) {
				t.Errorf("%s: %q is missing, or English is there: %s", code, want, one)
			}
		}
	}
}

// englishOf matches texts that a page has marked as English, beside links to pages that are in English.
var englishOf = regexp.MustCompile(`[^f]lang="en"[^>]*>[^<]*`)

// Every refusal that a form can meet is in French on a French page.
func TestFormsRefuseInFrench(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	long := strings.Repeat("x", 300)
	try := func(pairs ...string) url.Values { return paymentForm(pairs...) }
	client := func(field, value string) url.Values {
		form := url.Values{"number": {"+250788123456"}, "behavior": {"Approve"}}
		form.Set(field, value)
		return form
	}
	f.create(key, "/v1/test_clients", `{"msisdn":"`+awa+`","name":"awa"}`)
	b.send(http.MethodPost, checkout+"/language", url.Values{"language": {"fr"}, "back": {"/sign-in"}})
	for name, c := range map[string]struct {
		path string
		form url.Values
	}{
		"no amount":        {"/try", try("amount", "")},
		"an amount":        {"/try", try("amount", "ten")},
		"a small amount":   {"/try", try("amount", "0")},
		"a large amount":   {"/try", try("amount", "99999999999999")},
		"a number":         {"/try", try("number", "0788")},
		"a short number":   {"/try", try("number", "+25078812345")},
		"a former number":  {"/try", try("number", "+22507000001", "market", "")},
		"another country":  {"/try", try("number", "+33612345678")},
		"a market":         {"/try", try("market", "orange CI")},
		"no such market":   {"/try", try("market", "none rw")},
		"a store":          {"/try", try("application", "nowhere")},
		"a long store":     {"/try", try("application", long)},
		"an order":         {"/try", try("order_ref", long)},
		"a description":    {"/try", try("description", long)},
		"a reference":      {"/try", try("reference", long)},
		"a scenario":       {"/try", try("scenario", "sad")},
		"a kind":           {"/try", url.Values{"kind": {"disbursement"}, "number": {"0788"}}},
		"no payment":       {"/try", url.Values{"kind": {"refund"}, "payment": {"../x"}}},
		"another payment":  {"/try", url.Values{"kind": {"refund"}, "payment": {"TX_0000000000000000000000000G"}, "reference": {"r"}}},
		"no client":        {"/handsets/new", client("number", "")},
		"a client":         {"/handsets/new", client("number", "0788")},
		"the same client":  {"/handsets/new", client("number", awa)},
		"a far client":     {"/handsets/new", client("number", "+33612345678")},
		"a balance":        {"/handsets/new", client("balance", "much")},
		"a behavior":       {"/handsets/new", client("behavior", "Sulk")},
		"a name":           {"/handsets/" + awa + "/change", client("name", long)},
		"a less balance":   {"/handsets/" + awa + "/change", client("balance", "-1")},
		"a state":          {"/handsets/" + awa + "/change", client("state", "Lost")},
		"a fault's name":   {"/faults", url.Values{"preset": {"twice"}, "for": {"15m"}, "name": {"A b"}}},
		"a fault's number": {"/faults", url.Values{"preset": {"twice"}, "for": {"15m"}, "msisdn": {"07"}}},
	} {
		got := b.post(checkout, c.path, c.form)
		if got.status/100 != 4 {
			t.Errorf("%s: %d", name, got.status)
		}
		if found := englishOf.FindAllString(part(got.text, "<main", "</main>"), -1); found != nil {
			t.Errorf("%s: in English: %q", name, found)
		}
	}
}
