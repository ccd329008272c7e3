package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cauri-dev/cauri/test/system"
)

// keys sends keys to the element with the focus.
func (b *tab) keys(text string) {
	b.t.Helper()
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(text)))
}

// phone names a part of the phone with a number in the page, as JavaScript.
func phone(msisdn, part string) string {
	return fmt.Sprintf(`document.querySelector(%s)`, quoted("#phone-"+msisdn[1:]+" "+part))
}

// rings waits until the phone with a number asks for a PIN.
func (b *tab) rings(msisdn, amount string) {
	b.t.Helper()
	b.shows("#phone-"+msisdn[1:]+".rings .amount", amount)
}

// follows waits until the page follows the sandbox, and marks its document.
func (b *tab) follows() {
	b.t.Helper()
	b.until(`document.querySelector(".live")?.innerText && !document.querySelector(".live.off")`)
	read[bool](b, `window.sameDocument = true`)
}

// A payment makes a phone ring on the open page, and each answer of a person becomes an outcome there.
func TestPhonesRing(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Manual", 100_000)
	s.client(ibrahim, "Ibrahim Traoré", "Manual", 100_000)
	b := newTab(t)
	b.signIn(s)
	b.click("Handsets")
	b.shows("h1", "Handsets")
	b.follows()
	b.inspect("sleeping phones")

	paid := s.pay("by-keypad", jeanBosco, 12_500, nil)
	b.rings(jeanBosco, "RWF 12,500")
	b.until(`document.querySelector("#rung").textContent.includes("Jean-Bosco Habimana")`)
	b.until(`document.querySelector("#count-handsets").innerText.startsWith("1")`)
	b.inspect("a ringing phone")
	for i, digit := range "1294" {
		b.press(phone(jeanBosco, `[data-digit="`+string(digit)+`"]`))
		b.shows("#under-"+jeanBosco[1:], fmt.Sprintf("PIN, %d of 4", i+1))
	}
	s.pay("beside", ibrahim, 4_000, nil) // what comes meanwhile takes no digit away
	b.rings(ibrahim, "4\u202f000 FCFA")
	if pin := read[string](b, phone(jeanBosco, "input[name=pin]")+`.value`); pin != "1294" {
		t.Errorf("the PIN became %q while another phone began to ring", pin)
	}
	b.press(phone(jeanBosco, `.soft button:last-child`))
	b.shows("#under-"+jeanBosco[1:], "Success")
	b.shows("#under-"+jeanBosco[1:], "87,500")
	b.shows("#phone-"+jeanBosco[1:], "You have paid RWF 12,500")
	b.inspect("a message")
	s.is(paid, "SUCCESS")

	wrong := s.pay("by-keyboard", jeanBosco, 1_000, nil)
	b.rings(jeanBosco, "RWF 1,000")
	b.do(chromedp.Do(b.ctx, chromedp.Evaluate[chromedp.Void](phone(jeanBosco, "")+`.focus()`)))
	b.keys("0001")
	b.keys("\b")
	b.keys("0\r")
	b.shows("#phone-"+jeanBosco[1:], "Wrong PIN.")
	b.until(`document.activeElement.id === "phone-` + jeanBosco[1:] + `"`)
	s.is(wrong, "PIN_INVALID")

	cancelled := s.pay("cancelled", jeanBosco, 2_000, nil)
	b.rings(jeanBosco, "RWF 2,000")
	b.keys("\u001b")
	b.shows("#phone-"+jeanBosco[1:], "You have cancelled.")
	s.is(cancelled, "USER_CANCELLED")
	if !read[bool](b, `window.sameDocument === true`) {
		t.Error("the page was loaded again")
	}
}

// is fails if a payment does not end with a status.
func (s *shop) is(id, status string) {
	s.t.Helper()
	s.settled(id)
	if got := s.get("/payments/" + id)["status"]; got != status {
		s.t.Errorf("%s is %v, want %s", id, got, status)
	}
}

// Phones are answered without scripts, by the field of the PIN alone.
func TestPhonesWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Manual", 100_000)
	paid, cancelled := s.pay("paid", jeanBosco, 12_500, nil), s.pay("cancelled", jeanBosco, 700, nil)
	b := newTab(t)
	b.withoutScripts()
	b.signIn(s)
	b.click("Handsets")
	b.rings(jeanBosco, "RWF 12,500")
	b.fill("#pin-"+jeanBosco[1:], "4711\r")
	b.rings(jeanBosco, "RWF 700")
	s.is(paid, "SUCCESS")
	b.click("Cancel")
	b.shows("#phone-"+jeanBosco[1:], "You have cancelled.")
	s.is(cancelled, "USER_CANCELLED")
}

// The switch makes a phone wait that approves by itself otherwise.
func TestSwitchOfAPhone(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Approve", 100_000)
	b := newTab(t)
	b.signIn(s)
	b.open(consoleOf(s.Sandbox) + "/handsets")
	b.follows()
	b.click("I answer")
	b.until(`document.querySelector('[role="switch"]').ariaChecked === "true" && document.activeElement.role === "switch"`)
	b.inspect("a phone that somebody answers")
	id := s.pay("waits", jeanBosco, 5_000, nil)
	b.rings(jeanBosco, "RWF 5,000")
	b.fill("#pin-"+jeanBosco[1:], "0000\r")
	b.shows("#phone-"+jeanBosco[1:], "Wrong PIN.")
	s.is(id, "PIN_INVALID")
	b.click("I answer")
	b.shows("#under-"+jeanBosco[1:], "now: approves by itself")
	s.is(s.pay("by-itself", jeanBosco, 5_000, nil), "SUCCESS")
	if !read[bool](b, `window.sameDocument === true`) {
		t.Error("the page was loaded again")
	}
}

// A person adds a test client, is told what is wrong with its number, changes it and deletes it, also without scripts.
func TestClientByHand(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	for _, scripts := range []bool{true, false} {
		b := newTab(t)
		if !scripts {
			b.withoutScripts()
		}
		b.signIn(s)
		b.click("Handsets")
		b.shows("h1", "Handsets")
		b.click("Add a test client")
		b.shows("h1", "Add a test client")
		b.fill("#t-number", "0788 000 001")
		b.fill("#t-name", "Chantal Uwase")
		b.fill("#t-balance", "45,000")
		b.click("Add the test client")
		b.shows("#w-number", "E.164")
		b.until(`document.querySelector("#t-name").value === "Chantal Uwase"`)
		if scripts {
			b.until(`document.activeElement.id === "t-number"`)
			b.inspect("a refused test client")
		}
		b.write("#t-number", "+250 788 000 077")
		b.click("Add the test client")
		b.shows("#under-250788000077", "45,000")
		if scripts {
			b.inspect("a phone that may be changed")
		}
		b.click("Change the test client")
		b.shows("h1", "Chantal Uwase")
		if scripts {
			b.inspect("the form of a test client")
		}
		b.write("#t-balance", "7,000")
		b.click("Change the test client")
		b.shows("#under-250788000077", "7,000")
		b.click("Change the test client")
		b.click("Delete")
		b.shows("h2", "No phone yet")
	}
}

// A guest gets one phone by a QR code, and pays with it. Another phone stays closed.
func TestGuestPaysWithOnePhone(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(ibrahim, "Ibrahim <b>Traoré</b>", "Manual", 100_000)
	s.client(jeanBosco, "Jean-Bosco Habimana", "Manual", 100_000)
	host := newTab(t)
	host.signIn(s)
	host.open(consoleOf(s.Sandbox) + "/handsets")
	host.press(`document.querySelector('article [action$="/link"] button')`)
	host.shows("h1", "The phone of")
	host.inspect("a QR code")
	link := read[string](host, `document.querySelector("[data-copy*='/console/link?token=']").dataset.copy`)
	b := newTab(t)
	b.open(link)
	b.click("Open the phone")
	b.shows("h1", "Ibrahim <b>Traoré</b>")
	b.follows()
	b.inspect("one phone")
	paid := s.pay("paid", ibrahim, 15_000, nil)
	b.rings(ibrahim, "15\u202f000 FCFA")
	b.inspect("one phone that rings")
	b.fill("#pin-"+ibrahim[1:], "1234")
	b.click("Valider")
	b.shows("#phone-"+ibrahim[1:], "Vous avez payé 15\u202f000 FCFA")
	b.inspect("one phone with a message")
	s.is(paid, "SUCCESS")
	if !read[bool](b, `window.sameDocument === true`) {
		t.Error("the page was loaded again")
	}
	b.open(consoleOf(s.Sandbox) + "/handsets/" + jeanBosco)
	b.shows("h1", "Your link opens one phone")
	b.open(consoleOf(s.Sandbox) + "/overview")
	b.shows("h1", "Your link opens one phone")
}
