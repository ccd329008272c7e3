package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// A payment made by hand: the request follows what somebody writes, the answer stands beside it, and its phone rings. All
// but the first works without scripts.
func TestPaymentByHand(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Approve", 400_000)
	s.client(aline, "Aline Mukamana", "Manual", 60_000)
	for _, scripts := range []bool{true, false} {
		b := newTab(t)
		if !scripts {
			b.withoutScripts()
		}
		b.signIn(s)
		b.click("Try it")
		b.shows("h1", "Try it")
		b.shows("#h-payer", "Its phone rings until somebody answers.")
		b.write("#t-amount", "20,5")
		if scripts {
			b.click("Python")
			b.shows("#code-Python", `"amount": "20,5"`)
			b.shows("#submit-text", "Pay")
		}
		b.press(`document.querySelector("main form button.main")`)
		b.shows(".note.bad", "Refused: one field is wrong.")
		b.shows("#w-amount", "expected integer")
		if scripts {
			b.until(`document.activeElement.id === "t-amount"`)
			b.inspect("a refused request")
		}
		b.write("#t-amount", "20,500")
		if scripts {
			b.shows("#submit-text", "20,500")
		}
		b.press(`document.querySelector("main form button.main")`)
		b.shows(".note.ok", "phone rings.")
		b.shows("#answer", `"status": "PENDING"`)
		if scripts {
			b.inspect("a request with its answer")
		}
		b.click("Show what happened")
		b.shows("h1", "20,500")
		b.click("Make one like it")
		b.shows("h1", "Try it")
		b.until(`document.querySelector("#t-amount").value === "20500" && document.querySelector("#t-payer").value === ` + quoted(aline))
	}
}

// write replaces the text of a field.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	field := `document.querySelector(` + quoted(selector) + `)`
	b.press(field)
	read[bool](b, field+`.select() === undefined`)
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(text)))
}

// A refund by its dialog, and by its page without scripts. Sent twice, it is made once.
func TestRefundByHand(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	for _, scripts := range []bool{true, false} {
		reference := "paid"
		if !scripts {
			reference = "paid without scripts"
		}
		id := s.pay(reference, jeanBosco, 12_500, object{"scenario": "success"})
		b := newTab(t)
		if !scripts {
			b.withoutScripts()
		}
		b.signIn(s)
		b.open(consoleOf(s.Sandbox) + "/payments/" + id)
		b.click("Refund…")
		form := "dialog"
		if scripts {
			b.until(`document.querySelector("#refund").open`)
			b.inspect("the dialog of a refund")
		} else {
			form = "page"
			b.shows("h1", "Refund")
		}
		b.fill("#amount-"+form, "20,000")
		b.press(`document.querySelector("form:has(#amount-` + form + `) button[type=submit]")`)
		b.shows("h1", "Refund")
		b.shows("#amount-wrong-page", "12500")
		if scripts {
			b.inspect("a refused refund")
		}
		b.write("#amount-page", "2,500")
		b.fill("#reason-page", "Too large")
		if scripts {
			read[bool](b, `(() => {
				const form = document.querySelector("form:has(#amount-page)"), body = new URLSearchParams(new FormData(form));
				return fetch(form.action, {method: "POST", body}).then((answer) => answer.ok);
			})()`)
		}
		b.press(`document.querySelector("form:has(#amount-page) button[type=submit]")`)
		b.shows("#lead", "2,500 of it went back; 10,000 can still be refunded.")
	}
	if refunds := s.get("/payments?type=refund")["data"].([]any); len(refunds) != 2 || refunds[0].(object)["description"] != "Too large" {
		t.Errorf("the refunds are %v", refunds)
	}
}

// Who only looks is led to no form, and a sandbox without a test client has one too.
func TestTryItOfOthers(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge, func(c *sandboxes.Config) { c.TestNumbers = "None" })
	b := newTab(t)
	b.signIn(s)
	b.open(consoleOf(s.Sandbox) + "/try")
	b.until(`document.querySelector("#t-payer").value === ""`)
	for _, kind := range []string{"collection", "refund", "disbursement"} {
		b.open(consoleOf(s.Sandbox) + "/try?kind=" + kind)
		b.inspect("try " + kind)
	}
	viewer := newTab(t)
	viewer.follow(s.link("viewer"))
	if text := viewer.text("nav"); strings.Contains(text, "Try it") {
		t.Errorf("the viewer is led to Try it: %s", text)
	}
	viewer.open(consoleOf(s.Sandbox) + "/try")
	viewer.shows("main", "Your session may not do this")
}
