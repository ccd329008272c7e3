package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/cauri-dev/cauri/test/system"
)

// What happens appears on open pages, without loading them again.
func TestPagesFollowTheSandbox(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Approve", 100_000)
	overview, payments := newTab(t), newTab(t)
	overview.signIn(s)
	payments.signIn(s)
	s.settled(s.pay("first", jeanBosco, 1_000, object{"order_ref": "first"}))
	payments.open(consoleOf(s.Sandbox) + "/payments")
	for _, b := range []*tab{overview, payments} {
		b.until(`document.querySelector(".live")?.innerText.includes("Live") && !document.querySelector(".live.off")`)
		read[bool](b, `window.sameDocument = true`)
	}
	s.settled(s.pay("second", jeanBosco, 20_000, object{"order_ref": "second"}))
	payments.shows("#list", "second")
	payments.until(`[...document.querySelectorAll("#list tbody tr")].filter((r) => /Success[^]*Delivered/.test(r.innerText)).length === 2`)
	overview.shows("#feed", "Jean-Bosco Habimana")
	overview.shows("#balances", "1,020,685") // 1,000,000, and 21,000 without 1.5 % of it
	overview.until(`/Delivered:\s*2/.test(document.querySelector("#receiver").innerText)`)
	for _, b := range []*tab{overview, payments} {
		if !read[bool](b, `window.sameDocument === true`) {
			t.Errorf("%s was loaded again", b.address())
		}
	}
}

// A refused request appears on the open page of requests. While somebody reads further down, nothing moves: what is new waits.
func TestRequestsWaitWhileSomebodyReads(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	refused := func(times int) {
		for range times {
			if answer, err := s.Client.Get(t.Context(), "/payments?limit=0"); err != nil || answer.Status != http.StatusBadRequest {
				t.Fatalf("%d %v", answer.Status, err)
			}
		}
	}
	const rows = `document.querySelectorAll("#list tbody tr").length`
	b := newTab(t)
	b.signIn(s)
	b.open(consoleOf(s.Sandbox) + "/requests")
	read[bool](b, `window.sameDocument = true`)
	refused(12)
	b.until(rows + ` === 12 && window.sameDocument`)
	b.open(consoleOf(s.Sandbox) + "/requests")
	shown := b.text("#one dl")
	b.size(1280, 500)
	read[float64](b, `(scrollTo({top: 5000, behavior: "instant"}), scrollY)`)
	refused(3)
	b.shows(".newer", "3 new")
	if n, at := read[int](b, rows), read[float64](b, `scrollY`); n != 12 || at == 0 {
		t.Errorf("%d rows, at %g px: the page moved", n, at)
	}
	b.click("3 new")
	b.until(rows + ` === 15 && scrollY === 0 && document.querySelector(".newer").innerText === ""`)
	if b.text("#one dl") != shown || !read[bool](b, `!document.querySelector("#list tr").classList.contains("on")`) {
		t.Error("another request is shown than before")
	}
	for _, path := range read[[]string](b, `[...document.querySelectorAll("#list a.row")].map((a) => a.pathname)`) {
		if !strings.Contains(path, "/"+s.Config.Name+"/console/requests/log_") {
			t.Errorf("a row leads to %s", path)
		}
	}
}

func TestResetAsksForTheNameInADialog(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Approve", 100_000)
	s.settled(s.pay("before", jeanBosco, 1_000, nil))
	b := newTab(t)
	b.signIn(s)
	b.open(consoleOf(s.Sandbox) + "/setup")
	b.click("Reset this sandbox")
	b.until(`document.querySelector("dialog").open && document.activeElement.name === "name"`)
	b.inspect("the dialog")
	b.click("Cancel")
	b.until(`!document.querySelector("dialog").open && location.pathname.endsWith("/setup")`)
	b.click("Reset this sandbox")
	b.fill(`dialog input[name="name"]`, "wrong\r")
	b.shows(".wrong", "Nothing was reset.")
	b.inspect("the page after a wrong name")
	b.fill(`input[name="name"]`, s.Config.Name+"\r")
	b.shows("#lead", "Nothing has happened yet")
	b.open(consoleOf(s.Sandbox) + "/requests?show=changes")
	b.shows("#list", "reset the sandbox")
}

func TestAdvanceTheClock(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(aline, "Aline Mukamana", "Ignore", 100_000)
	id := s.pay("waits", aline, 1_000, nil)
	b := newTab(t)
	b.signIn(s)
	b.click("+1 h")
	b.shows("#clock", "ahead") // an hour, without the time that the advance took
	s.settled(id)
	if status := s.get("/payments/" + id)["status"]; status != "TIMEOUT" {
		t.Errorf("after an hour the payment is %v", status)
	}
	b.click("To a time")
	b.press(`document.querySelector("#to")`)
	read[string](b, `document.querySelector("#to").value = "2026-01-01T00:00"`)
	b.press(`document.querySelector('#clock details button[type="submit"]')`)
	if read[bool](b, `document.querySelector("#to").checkValidity()`) {
		t.Error("a form with a time in the past may be sent")
	}
}

// Pages are complete, and forms work, without scripts.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	s := busyShop(t)
	b := newTab(t)
	b.withoutScripts()
	b.signIn(s)
	b.shows("#lead", "ayments work")
	b.shows("#feed", "Jean-Bosco Habimana")
	b.shows("#balances", "Float in XOF")
	b.click("+1 h")
	b.shows("#feed", "Timed out")
	b.click("Payments")
	b.shows("#list", "Jean-Bosco Habimana")
	b.click("Refunds")
	b.until(`document.querySelectorAll("#list tbody tr").length === 1`)
	b.open(consoleOf(s.Sandbox) + "/ledger")
	b.shows("#accounts", "Clarisse Uwase")
	b.click("Dark")
	b.until(`document.documentElement.dataset.theme === "dark" && location.pathname.endsWith("/ledger")`)
}

// A person who switches the language reads it on every page from then on, also in the parts that follow the sandbox.
func TestSwitchToFrench(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Approve", 100_000)
	b := newTab(t)
	b.open(consoleOf(s.Sandbox) + "/sign-in")
	b.shows("h1", "Sign in to ")
	b.click("Français")
	b.shows("h1", "Se connecter à ")
	b.fill("#key", s.Key)
	b.click("Se connecter")
	b.shows("#lead", "Rien ne s'est encore passé.")
	b.until(`document.querySelector(".live")?.innerText === "En direct" && !document.querySelector(".live.off")`)
	read[bool](b, `window.sameDocument = true`)
	id := s.pay("first", jeanBosco, 20_000, nil)
	s.settled(id)
	b.shows("#balances", "1\u202f019\u202f700")
	b.shows("#feed", "20\u202f000\u00a0RWF")
	b.until(`document.querySelector("#feed .chip").innerText.trim() === "Réussi" && window.sameDocument`)
	b.open(consoleOf(s.Sandbox) + "/payments/" + id)
	b.shows("#lead", "Jean-Bosco Habimana")
	b.shows("#timeline", "Le téléphone a sonné")
	b.click("English")
	b.shows("#timeline", "The phone rang")
}

// held lets a page begin its streams only when a test calls begin.
const held = `{
	window.setInterval = () => {}; // the page is not read again for another reason
	const Real = EventSource;
	window.EventSource = class extends EventTarget {
		constructor(address) {
			super();
			window.begin = () => {
				const real = new Real(address);
				for (const type of ["open", "change", "error"]) real.addEventListener(type, (e) => this.dispatchEvent(new MessageEvent(type, {data: e.data})));
			};
		}
		close() {}
	};
}`

// What happens after a page is made and before its stream begins appears too.
func TestNothingIsMissedWhileAPageLoads(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(aline, "Aline Mukamana", "Manual", 60_000)
	b := newTab(t)
	b.signIn(s)
	_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: held})
	b.do(err)
	b.open(consoleOf(s.Sandbox) + "/handsets")
	s.pay("early", aline, 1_000, nil)
	read[bool](b, `window.begin() === undefined`)
	b.rings(aline, "RWF 1,000")
}
