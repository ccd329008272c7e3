package console_test

import (
	"net/http"
	"net/url"
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

// Messages of the API are in English, and marked as English. The advice is in the language of the page.
func TestRefusalsInFrench(t *testing.T) {
	f := newFixture(t)
	f.ask(key, http.MethodGet, "/v1/payments/TX_00000000000000000000000000", "")
	f.ask(key, http.MethodPost, "/v1/payments", `{"amount":"much","application":"shop"}`)
	f.logged()
	b := f.signedIn(checkout, key)
	text := b.send(http.MethodGet, checkout+"/requests?error=not_found", nil, accepting("fr")).text
	if !strings.Contains(text, `<b lang="en">`) || !strings.Contains(words(text), "Vérifiez l'identifiant, le numéro, la boutique et le chemin.") {
		t.Errorf("the refusal: %s", part(text, `id="one"`, "</section>"))
	}
	text = b.send(http.MethodGet, checkout+"/requests?error=invalid_body", nil, accepting("fr")).text
	one := words(part(text, `id="one"`, "</section>"))
	if strings.Contains(text, `<b lang="en">`) || !strings.Contains(one, "Refusée : 4 champs sont faux.") ||
		!strings.Contains(one, "Corrigez les champs de detail.fieldErrors") {
		t.Errorf("the wrong fields: %s", one)
	}
}
