package browser

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// walk is the way of a person through the console, step by step. The log has the clicks and the time of each step.
type walk struct {
	*tab
	name   string
	steps  int
	clicks int
	took   time.Duration
}

// step goes on until what the person looks for is there, and takes a picture of what is seen then.
func (w *walk) step(what string, do func()) {
	w.t.Helper()
	before, began := w.tab.clicks, time.Now()
	do()
	clicks, took := w.tab.clicks-before, time.Since(began)
	w.steps, w.clicks, w.took = w.steps+1, w.clicks+clicks, w.took+took
	w.t.Logf("%s: %-24s %d clicks, %.1f s", w.name, what, clicks, took.Seconds())
	if folder := os.Getenv(folderVariable); folder != "" {
		w.picture(filepath.Join(folder, fmt.Sprintf("path-%s-%d.webp", w.name, w.steps)), false)
	}
}

// words are the texts that a person looks for, in a language.
type words struct {
	signIn, makePayment, answer, pay, rings, toThePhone, success                                     string
	webhooks, acknowledged, again, attempt, requests, refused, more, openPhone, waits, api, overview string
}

var english = words{
	signIn: "Sign in", makePayment: "Make a payment", answer: "I answer", pay: "Pay RWF", rings: "'s phone rings", toThePhone: "To the phone",
	success: "Success", webhooks: "Webhooks", acknowledged: "Your receiver acknowledges events",
	again: "Send again now", attempt: "attempt 2", requests: "Requests", refused: "was not sent", more: "More", openPhone: "Open the phone",
	waits: "rings when a shop asks it to pay", api: "API description", overview: "Overview",
}

var french = words{
	signIn: "Se connecter", makePayment: "Faire un paiement", answer: "Je réponds", pay: "Payer", rings: "Un téléphone sonne", toThePhone: "Au téléphone",
	success: "Réussi", webhooks: "Webhooks", acknowledged: "Votre récepteur acquitte les événements",
	again: "Renvoyer maintenant", attempt: "tentative 2", requests: "Requêtes", refused: "n'a pas été envoyé", more: "Plus", openPhone: "Ouvrir le téléphone",
	waits: "sonne quand une boutique demande un paiement", api: "API (en anglais)", overview: "Vue d'ensemble",
}

// menu goes to a page by the menu, which a narrow screen has below the page.
func (w *walk) menu(label string, in words) {
	w.t.Helper()
	link := fmt.Sprintf(`[...document.querySelectorAll("nav a")].find((a) => a.innerText.trim().startsWith(%s) && a.checkVisibility())`, quoted(label))
	if !read[bool](w.tab, `Boolean(`+link+`)`) {
		w.click(in.more)
	}
	w.press(link)
}

// inOneDocument fails if the page was loaded again since [tab.follows].
func (w *walk) inOneDocument() {
	w.t.Helper()
	if !read[bool](w.tab, `window.sameDocument === true`) {
		w.t.Error("the page was loaded again")
	}
}

// walks runs a walk in each language and on each screen. The only phone of the sandbox approves by itself, as that of `cauri dev`.
func walks(t *testing.T, who string, way func(*walk, *shop, words)) {
	t.Helper()
	for _, c := range []struct {
		language string
		width    int64
		words
	}{{"en", 1280, english}, {"fr", 390, french}, {"fr", 1280, french}, {"en", 390, english}} {
		if !isWhole() && (c.language == "en") == (c.width == 390) { // each language and each width once
			continue
		}
		t.Run(fmt.Sprintf("%s %d", c.language, c.width), func(t *testing.T) {
			t.Parallel()
			s := newShop(t, system.Acknowledge)
			s.client(jeanBosco, "Jean-Bosco Habimana", "Approve", 400_000)
			w := &walk{tab: newTab(t), name: fmt.Sprintf("%s-%s-%d", who, c.language, c.width)}
			w.speak(c.language)
			w.prefer("light")
			w.size(c.width, 844)
			way(w, s, c.words)
			t.Logf("%s: %d clicks, %.1f s", w.name, w.clicks, w.took.Seconds())
		})
	}
}

// A newcomer with the key finds each thing by what the pages say.
func TestNewcomersPath(t *testing.T) { walks(t, "newcomer", (*walk).newcomer) }

func (w *walk) newcomer(s *shop, in words) {
	answer, err := s.Client.Post(w.t.Context(), "/payments", object{"amount": 2000, "msisdn": jeanBosco})
	if err != nil || answer.Status != http.StatusBadRequest {
		w.t.Fatalf("a wrong request answered %d, %v", answer.Status, err)
	}
	w.step("open the console", func() {
		w.open(consoleOf(s.Sandbox))
		w.shows("button.main", in.signIn)
	})
	w.step("sign in", func() {
		w.fill("#key", s.Key)
		w.click(in.signIn)
		w.shows("main", in.makePayment)
	})
	w.step("make a payment", func() {
		w.click(in.makePayment)
		w.click(in.answer)
		w.click(in.pay)
		w.shows(".note.ok", in.rings)
	})
	w.step("answer the phone", func() {
		w.click(in.toThePhone)
		w.rings(jeanBosco, "RWF 15,000")
		w.follows()
		w.fill("#pin-"+jeanBosco[1:], "1234")
		w.click("Send")
		w.shows("#phone-"+jeanBosco[1:], "You have paid")
		w.shows("#under-"+jeanBosco[1:], in.success)
	})
	w.step("a phone rings by itself", func() {
		s.pay("by-code", jeanBosco, 2_500, nil)
		w.rings(jeanBosco, "RWF 2,500")
	})
	w.inOneDocument()
	w.step("find the webhook", func() {
		w.menu(in.webhooks, in)
		w.shows("#health", in.acknowledged)
		w.press(`document.querySelector("#list a.row")`)
		w.shows("main", in.again)
	})
	w.step("send it again", func() {
		w.click(in.again)
		w.shows("#attempts", in.attempt)
	})
	w.step("find the refused request", func() {
		w.menu(in.requests, in)
		w.shows("#list", "invalid_body")
		if !read[bool](w.tab, `document.querySelector("#one").checkVisibility()`) { // a narrow screen has it behind its row
			w.press(`document.querySelector("#list a.row")`)
		}
		w.shows("#one", in.refused)
	})
	w.step("read the API's page", func() {
		w.menu(in.api, in)
		w.shows("h1", "Cauri")
	})
	w.step("go back to the console", func() {
		w.menu("Console of this sandbox", words{more: "Menu"})
		w.shows("h1", in.overview)
	})
}

// A guest with a link, and without a key, pays with one phone.
func TestGuestsPath(t *testing.T) {
	walks(t, "guest", func(w *walk, s *shop, in words) {
		link := s.post("/console_links", object{"msisdn": jeanBosco})["url"].(string)
		w.step("open the link", func() {
			w.open(link)
			w.shows("button.main", in.openPhone)
		})
		w.step("open the phone", func() {
			w.click(in.openPhone)
			w.shows("h1", "Jean-Bosco Habimana")
			w.shows("main", in.waits)
		})
		w.follows()
		w.step("it rings", func() {
			s.pay("by-code", jeanBosco, 2_500, nil)
			w.rings(jeanBosco, "RWF 2,500")
		})
		w.step("answer", func() {
			w.fill("#pin-"+jeanBosco[1:], "1234")
			w.click("Send")
			w.shows("#phone-"+jeanBosco[1:], "You have paid RWF 2,500")
		})
		w.inOneDocument()
	})
}
