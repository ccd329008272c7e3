package browser

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// mostClicks is how many clicks a tester needs at most to switch a fault on and off again, from any page.
const mostClicks = 4

// situations are what a tester of a checkout tries, each with the preset that makes it. The first one is tried in each run,
// and all of them with CAURI_TEST_WHOLE=1.
var situations = []struct{ what, preset, minutes string }{
	{"503 for five minutes", "unavailable", "5 min"},
	{"answer lost", "lost-answer", ""},
	{"slow", "slow", ""},
	{"webhook late", "late-webhook", ""},
	{"webhook twice", "twice", ""},
	{"webhook twice at once", "twice-at-once", ""},
	{"webhooks out of order", "out-of-order", ""},
	{"webhook never", "no-webhook", ""},
	{"webhook forged", "forged", ""},
	{"operator silent", "silent-operator", ""},
}

// A tester switches each situation on and off again, in French, with few clicks and without YAML.
func TestSituationsOfATester(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	b := newTab(t)
	b.signIn(s)
	b.speak("fr")
	tried := situations[:1]
	if os.Getenv("CAURI_TEST_WHOLE") != "" {
		tried = situations
	}
	for _, each := range tried {
		s.exec("update organizations set fault_changes = '{}' where tenant = $1", s.Tenant)
		b.open(consoleOf(s.Sandbox) + "/overview")
		began, before := time.Now(), b.clicks
		b.click("Pannes simulées")
		b.situation(each.preset, each.minutes, func() {
			if on := s.get("/faults")["data"].([]any); len(on) != 1 || on[0].(object)["name"] != each.preset || on[0].(object)["setBy"] != "console" {
				t.Errorf("%s: on is %v", each.what, on)
			}
		})
		if on := s.get("/faults")["data"].([]any); len(on) != 0 {
			t.Errorf("%s: after it was switched off, on is %v", each.what, on)
		}
		clicks := b.clicks - before
		if clicks > mostClicks {
			t.Errorf("%s: %d clicks, want %d at most", each.what, clicks, mostClicks)
		}
		t.Logf("%-22s %d clicks, %4.1f s", each.what, clicks, time.Since(began).Seconds())
	}
}

// situation switches a preset on and off again in French, and calls a function while it is on.
func (b *tab) situation(preset, minutes string, on func()) {
	b.t.Helper()
	card := `document.querySelector(` + quoted("#p-"+preset) + `)`
	button := func(text string) string {
		return fmt.Sprintf(`[...%s.querySelectorAll("button, label")].find((e) => e.innerText.trim().startsWith(%s) && e.checkVisibility())`,
			card, quoted(text))
	}
	b.shows("h1", "Pannes simulées")
	if minutes != "" {
		b.press(button(minutes))
	}
	b.press(button("Activer"))
	b.shows("#p-"+preset+" .preset-on", "Active pour tout le monde")
	b.shows("#on", "1 panne simulée active")
	on()
	b.press(button("Désactiver"))
	b.until(`!` + card + `.querySelector(".preset-on") && document.querySelector("#on").innerText === ""`)
}

// Every page that is open says that somebody has switched a fault on, and that it is off again, without loading again. What
// the person is writing stays.
func TestPagesFollowTheFaults(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	s.client(aline, "Aline Mukamana", "Manual", 60_000)
	var tabs []*tab
	for _, path := range []string{"/handsets", "/faults", "/webhooks/grade"} {
		b := newTab(t)
		b.signIn(s)
		b.open(consoleOf(s.Sandbox) + path)
		b.follows()
		tabs = append(tabs, b)
	}
	phone, faults := tabs[0], tabs[1]
	faults.press(`document.querySelector("#p-twice summary")`)
	faults.fill("#reference-twice", "order-9*")
	phone.click("Its next payment goes wrong")
	read[bool](phone, `(document.querySelector("#preset-`+aline[1:]+`").value = "twice", true)`)
	phone.press(`document.querySelector("#form-` + aline[1:] + ` button")`)
	phone.shows("#next-"+aline[1:], "Next payment: Webhook twice")
	phone.follows()
	for _, b := range tabs {
		b.shows("#on", "A fault is switched on: Webhook twice for the next payment of +250\u00a0788\u00a0000\u00a0003.")
	}
	faults.shows("#state-twice", "On for the next payment of")
	id := s.pay("order-1", aline, 5_000, nil)
	phone.rings(aline, "RWF 5,000")
	phone.fill("#pin-"+aline[1:], "1234\r")
	s.is(id, "SUCCESS")
	for _, b := range tabs {
		b.until(`document.querySelector("#on").innerText === "" && window.sameDocument`)
	}
	faults.shows("#faults-on", "Acted once")
	faults.shows("#faults-on", "Payments: order-1")
	if got := read[string](faults, `document.querySelector("#reference-twice").value`); got != "order-9*" {
		t.Errorf("the field has %q", got)
	}
}
