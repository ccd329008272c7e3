package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/stories"
)

// playing makes the sandbox one that plays stories.
func (f *fixture) playing() *browser {
	f.t.Helper()
	f.config.TestNumbers = payments.StandardTestNumbers
	f.config.Webhook = &sandboxes.WebhookConfig{URL: "http://shop.test/webhooks"}
	f.apply(f.config, key)
	f.of("checkout")
	return f.signedIn(checkout, key)
}

// begin begins a story, and returns where its page is.
func (b *browser) begin(name string) string {
	b.t.Helper()
	got := b.post(checkout, "/stories", url.Values{"begin": {name}})
	if got.status != http.StatusSeeOther || !strings.HasPrefix(got.header.Get("Location"), "stories") {
		b.t.Fatalf("%s: answered %d %s: %s", name, got.status, got.header.Get("Location"), words(got.text))
	}
	return checkout + "/" + got.header.Get("Location")
}

// A story is begun and ended by one form each. Every page says that it is played, and names none of its faults.
func TestStoriesAreBegunAndEnded(t *testing.T) {
	f := newFixture(t)
	b := f.playing()
	for _, s := range stories.All() {
		f.mayChange()
		page := b.get(checkout + "/stories")
		if s.OwnAPI() == payments.MPesa {
			if strings.Contains(page.text, s.Name) {
				t.Errorf("%s is shown to a sandbox without M-Pesa", s.Name)
			}
			continue
		}
		page.has(t, string(s.Title), string(s.What), string(s.Correct))
		if needs := s.Needs(); len(needs) > 0 {
			page.has(t, "Needs: "+strings.Join(needs, ", "), "cauri dev --story="+s.Name)
			if got := b.post(checkout, "/stories", url.Values{"begin": {s.Name}}); got.status != http.StatusBadRequest {
				t.Errorf("%s: answered %d", s.Name, got.status)
			}
			continue
		}
		b.begin(s.Name)
		listed := f.listed()
		if strings.Count(listed, "story-"+s.Name+"-") != len(s.Faults(time.Time{})) {
			t.Errorf("%s: on are %s", s.Name, listed)
		}
		b.begin(s.Name) // a double click
		if got := f.listed(); got != listed {
			t.Errorf("%s: on are %s, and before %s", s.Name, got, listed)
		}
		page = b.get(checkout + "/stories")
		page.has(t, "A story is being played.", "Open", "nothing else", "A story is being played: "+string(s.Title)+".")
		for _, step := range s.Steps("+250 790 000 901") {
			page.has(t, step.String())
		}
		if other := words(b.get(checkout + "/payments").text); !strings.Contains(other, "A story is being played: "+string(s.Title)) ||
			strings.Contains(other, "switched on:") {
			t.Errorf("%s: another page says %s", s.Name, other)
		}
		for range 2 { // a double click
			if got := b.post(checkout, "/stories", url.Values{"end": {s.Name}}); got.status != http.StatusSeeOther {
				t.Errorf("%s: ending answered %d: %s", s.Name, got.status, words(got.text))
			}
		}
		if got, page := f.listed(), words(b.get(checkout+"/stories").text); got != "" || strings.Contains(page, "being played") {
			t.Errorf("%s: in the end, on are %s, and the page says %s", s.Name, got, page)
		}
	}
}

// The verdict is that of the payments since the beginning, from any page, in the language of the person.
func TestVerdictOfAStory(t *testing.T) {
	f := newFixture(t)
	b := f.playing()
	f.pay(key, "+250790000901", "earlier", `,"scenario":"success"`)
	begun := b.begin("lost-webhook")
	if !strings.Contains(begun, "?since=TX_") {
		t.Errorf("the page is %s", begun)
	}
	pages := []string{begun, checkout + "/stories", checkout + "/stories?since=none"}
	says := func(texts ...string) {
		t.Helper()
		for _, page := range pages {
			b.get(page).has(t, texts...)
		}
	}
	says("The webhook gets lost Open", "Observed: 0 transactions")
	f.pay(key, "+250790000901", "order-1", `,"scenario":"success"`)
	says("The webhook gets lost Met", "Observed: 1 transaction")
	f.pay(key, "+250790000901", "order-2", `,"scenario":"success"`)
	says("The webhook gets lost Failed", "Observed: 2 transactions", "cannot be met any more")
	b.send(http.MethodPost, checkout+"/language", url.Values{"language": {"fr"}, "back": {"/stories"}})
	says("Mise en situation en cours :", "Le webhook se perd", "Payez avec +250 790 000 901 dans votre boutique.", "Terminer")
}

// Where a story cannot be played, the page says why, and nothing is set.
func TestStoriesThatCannotBegin(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	refused := func(status int, text string) {
		t.Helper()
		got := b.post(checkout, "/stories", url.Values{"begin": {"double-tap"}})
		got.has(t, text)
		if listed := f.listed(); got.status != status || listed != "" {
			t.Errorf("answered %d, and on are %s", got.status, listed)
		}
	}
	refused(http.StatusConflict, "This sandbox has no webhook.")
	f.config.Webhook = &sandboxes.WebhookConfig{URL: "http://shop.test/webhooks"}
	f.apply(f.config, key)
	refused(http.StatusConflict, "set spec.testNumbers to Standard")
	f.config.API.Faults, f.config.TestNumbers = false, payments.StandardTestNumbers
	f.apply(f.config, key)
	f.of("checkout")
	refused(http.StatusForbidden, "This sandbox does not let the console switch faults on")
	for _, form := range []url.Values{nil, {"begin": {"none"}}, {"end": {"none"}}} {
		if got := b.post(checkout, "/stories", form); got.status != http.StatusBadRequest {
			t.Errorf("%v is answered %d", form, got.status)
		}
	}
}

// A viewer sees in the banner that a story is played, and has no page of stories.
func TestGuestsPlayNoStories(t *testing.T) {
	f := newFixture(t)
	f.playing().begin("twice-at-once")
	for _, role := range []sandboxes.ConsoleRole{sandboxes.ConsoleViewer, sandboxes.ConsoleHandset} {
		b := f.guestWith(role)
		if got := b.get(checkout + "/stories"); got.status != http.StatusForbidden {
			t.Errorf("the page of a %s is answered %d", role, got.status)
		}
		for _, form := range []url.Values{{"begin": {"lost-webhook"}}, {"end": {"twice-at-once"}}} {
			form.Set("token", "x")
			if got := b.send(http.MethodPost, checkout+"/stories", form); got.status != http.StatusForbidden {
				t.Errorf("the form of a %s is answered %d", role, got.status)
			}
		}
	}
	page := f.guestWith(sandboxes.ConsoleViewer).get(checkout + "/overview")
	page.has(t, "A story is being played: The webhook comes twice at once.")
	if strings.Contains(page.text, `href="stories"`) {
		t.Error("a viewer's page leads to the stories")
	}
	if got := f.listed(); !strings.HasPrefix(got, "story-twice-at-once-") {
		t.Errorf("on are %s", got)
	}
}
