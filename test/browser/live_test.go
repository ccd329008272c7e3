package browser

import (
	"testing"

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
	overview.until(`/Delivered\s*2/.test(document.querySelector("#receiver").innerText)`)
	for _, b := range []*tab{overview, payments} {
		if !read[bool](b, `window.sameDocument === true`) {
			t.Errorf("%s was loaded again", b.address())
		}
	}
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
	b.shows("#lead", "events")
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
