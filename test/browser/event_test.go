package browser

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/test/system"
)

// What becomes of a payment appears on its open page.
func TestPaymentFollowsItsPayer(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(aline, "Aline Mukamana", "Manual", 100_000)
	id := s.pay("waits", aline, 1_000, nil)
	b := newTab(t)
	b.signIn(s)
	b.open(consoleOf(s.Sandbox) + "/payments/" + id)
	b.shows("#lead", "is asked to pay")
	b.until(`document.querySelector(".live")?.innerText.includes("Live") && !document.querySelector(".live.off")`)
	read[bool](b, `window.sameDocument = true`)
	b.click("Python")
	s.post("/test_clients/"+aline+"/prompts/"+id+"/approve", object{})
	b.shows("#lead", "Success")
	b.shows("#timeline", "Acknowledged by attempt 1.")
	b.shows("#money", "985")
	if !read[bool](b, `window.sameDocument === true && document.querySelector("#in-Python").checked`) {
		t.Error("the page was loaded again, or shows another language")
	}
	b.open(consoleOf(s.Sandbox) + "/payments/" + id)
	if !read[bool](b, `document.querySelector("#in-Python").checked`) {
		t.Error("the language is not kept")
	}
}

// A developer whose code has a wrong secret finds the cause, and sends the event again. Without scripts too.
func TestEventSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newShop(t, refusing)
	s.client(clarisse, "Clarisse Uwase", "WrongPin", 80_000)
	id := s.pay("kivu-0768", clarisse, 4_500, object{"order_ref": "kivu-0768"})
	event := "/events/evt_" + strings.TrimPrefix(id, "TX_")
	s.settled(id)
	s.eventually("an attempt", func() bool { return s.get(event)["attemptCount"].(float64) > 0 })
	for _, scripts := range []bool{true, false} {
		b := newTab(t)
		if !scripts {
			b.withoutScripts()
		}
		b.signIn(s)
		b.click("Webhooks")
		b.shows("#health", "Your receiver answers 401 since")
		b.click("See why")
		b.shows("#why", "It holds another secret")
		b.fill("#c-body", s.get(event)["body"].(string))
		b.fill("#c-computed", "sha256="+strings.Repeat("0", 64))
		b.click("Compare")
		b.shows("#bytes .verdicts", "right, byte for byte")
		b.shows("#bytes .verdicts", "wrong")
		b.shows("#bytes", "its secret is another one")
		if scripts {
			b.inspect("a comparison")
			continue
		}
		b.click("Send again now")
		s.eventually("another attempt", func() bool { return s.get(event)["attemptCount"].(float64) > 1 })
		b.open(consoleOf(s.Sandbox) + "/webhooks/evt_" + strings.TrimPrefix(id, "TX_"))
		b.shows("#attempts", "attempt 2")
	}
}

// A developer learns how good the receiver is, and what to fix.
func TestReportCard(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	b := newTab(t)
	b.signIn(s)
	b.click("Webhooks")
	b.click("Report card of your receiver")
	b.shows("#card", "Your receiver has no grade yet")
	b.inspect("no report card")
	b.click("Check the receiver now")
	b.shows("#card .lead", "It answers")
	b.shows("#card", "A timestamp that is ten minutes old")
	read[bool](b, `(window.read = performance.now(), document.addEventListener("htmx:beforeRequest", () => window.read = performance.now()), true)`)
	b.until(`performance.now() - window.read > 5000`) // the page of a check that has ended is not read again and again
	b.inspect("a report card")
}

// A developer sees what a test waits for, and evaluates lines by hand. The verdict appears without reloading.
func TestExpectations(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Approve", 100_000)
	b := newTab(t)
	b.signIn(s)
	b.click("Expectations")
	b.shows("#list", "No expectations yet")
	b.inspect("no expectations")
	s.expect(0, "order-1042-is-paid-once", `[{"transactions":{"where":{"orderRef":"order-1042","status":"SUCCESS"},"count":1}},{"nothingElse":true}]`)
	s.expect(3_600_000, "nothing-is-refunded", `[{"refunds":{"of":"order-1042","total":0}}]`)
	s.expect(0, "never-paid-twice", `[{"transactions":{"where":{"orderRef":"order-1042"},"count":"<=0"}},{"float":{"currency":"RWF","equals":7}}]`)
	b.open(consoleOf(s.Sandbox) + "/expectations")
	b.shows("#list", "The first line that is not met: transactions where orderRef=order-1042 status=SUCCESS: 1")
	b.shows("#list", "have to stay so until")
	b.inspect("open expectations")
	read[bool](b, `window.sameDocument = true`)
	s.settled(s.pay("r-1042", jeanBosco, 1_000, object{"order_ref": "order-1042"}))
	b.shows("#lead", "1 is open")
	if !read[bool](b, `window.sameDocument === true`) {
		t.Error("the page was loaded again")
	}
	b.fill("#e-lines", "- nothing: true")
	b.click("Evaluate now")
	b.shows("#evaluate", "has an unknown field")
	b.inspect("wrong lines")
	b.open(consoleOf(s.Sandbox) + "/expectations")
	b.fill("#e-lines", "- float: {currency: RWF, equals: 7}")
	b.click("Evaluate now")
	b.shows("#evaluate", "Observed: 1000985")
	b.inspect("evaluated lines")
	b.inspectFrench(consoleOf(s.Sandbox)+"/expectations", "expectations")
}
