package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cauri-dev/cauri/test/system"
)

// The keys go through a list and open its rows. None acts in a field, or after Setup has switched them off.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := busyShop(t)
	b := newTab(t)
	b.signIn(s)
	key := func(text string) { b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(text))) }
	row := func() string {
		return read[string](b, `document.activeElement.matches("a.row") ? document.activeElement.closest("tr").dataset.key : document.activeElement.id`)
	}
	b.open(consoleOf(s.Sandbox) + "/payments")
	key("j")
	first := row()
	key("j")
	second := row()
	key("k")
	if first == "" || second == first || row() != first {
		t.Errorf("j, j and k lead to %q, %q and %q", first, second, row())
	}
	key("?")
	b.shows("#keys", "The next row of a list")
	b.inspect("the keys")
	key("j")
	b.click("Close")
	b.until(`!document.querySelector("#keys").open`)
	key("/")
	key("j?")
	b.until(`document.activeElement.id === "find" && document.activeElement.value.endsWith("j?") && !document.querySelector("#keys").open`)
	b.open(consoleOf(s.Sandbox) + "/payments")
	key("j")
	key("\r")
	b.until(`location.pathname.endsWith("/payments/" + ` + quoted(first) + `)`)
	b.open(consoleOf(s.Sandbox) + "/setup")
	b.press(`document.querySelector("#keyboard button[value=off]")`)
	b.until(`document.querySelector("#keyboard button[value=off]")?.getAttribute("aria-pressed") === "true"`)
	b.open(consoleOf(s.Sandbox) + "/payments")
	key("j")
	key("?")
	if at := row(); at != "" || read[bool](b, `document.querySelector("#keys").open`) {
		t.Errorf("switched off, the keys lead to %q", at)
	}
}

// A button that copies says so, to eyes by its icon and to a screen reader in words.
func TestCopiesAreSaid(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	b := newTab(t)
	b.signIn(s)
	const button = `document.querySelector("[data-copy]")`
	b.until(button + `.focus() === undefined`)
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent("\r")))
	b.shows("#copied", "Copied")
	b.until(button + `.querySelector("use").getAttribute("href").endsWith("#check")`)
	b.until(button + `.querySelector("use").getAttribute("href").endsWith("#copy") && document.querySelector("#copied").innerText === ""`)
}

// stop is where Tab leads to: its text, and whether it is in the window with a ring around it, around its row, or around a box that is
// drawn for it.
const stop = `(() => {
	const e = document.activeElement, box = e.getBoundingClientRect();
	if (e === document.body) return "";
	const rings = [getComputedStyle(e), getComputedStyle(e, "::after")].some((s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2) ||
		[...e.parentElement.querySelectorAll("i, label")].some((i) => getComputedStyle(i).boxShadow !== "none" || getComputedStyle(i).outlineStyle !== "none");
	const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
	return (e.innerText || e.ariaLabel || e.id).trim().replace(/\s+/g, " ") + (rings ? "" : " WITHOUT A RING") + (inside ? "" : " OUT OF SIGHT");
})()`

// stops goes through a page with Tab. It returns the stops, and whether each can be seen and the last one begins with a text.
func (b *tab) stops(address, ends string) (all string, well bool) {
	b.t.Helper()
	b.open(address)
	var stops []string
	for range 100 {
		b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Tab)))
		at := read[string](b, stop)
		if at == "" {
			break
		}
		stops = append(stops, at)
	}
	all = strings.Join(stops, "\n")
	return all, !strings.Contains(all, "WITHOUT A RING") && !strings.Contains(all, "OUT OF SIGHT") && len(stops) >= 5 && len(stops) < 100 &&
		strings.HasPrefix(stops[len(stops)-1], ends)
}

// Tab goes through a page from its first link to its last field, and each stop can be seen.
func TestTabGoesThroughThePages(t *testing.T) {
	t.Parallel()
	w := newWebPay(t)
	w.client(awa, "Awa Koné", "Manual", 100_000)
	id := w.pay("kivu-0772", awa, 15_000, nil)
	order := w.order("order-1", "Boutique")
	b := newTab(t)
	b.signIn(w.shop)
	console := consoleOf(w.Sandbox)
	for address, ends := range map[string]string{
		console + "/overview": "All faults", console + "/payments": "Awa Koné", console + "/payments/" + id: "{", console + "/handsets": "Its next payment",
		order: "Annuler",
	} {
		if all, well := b.stops(address, ends); !well {
			t.Errorf("Tab goes through %s so:\n%s", address, all)
		}
	}
	b.open(order)
	for range 5 {
		b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Tab)))
	}
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(" ")))
	b.until(`location.pathname === "/docs/orange"`)
}

// reader is what a person who reads a part of a page does there: it stands on the last thing that acts, or beside it, and has
// scrolled what scrolls. The part counts as changed, whatever comes. A phone stays the same until its screen changes. Texts have
// no digits, because times go on.
const reader = `(() => {
	const live = [...document.querySelectorAll("[data-stream]")].flatMap((e) => e.getAttribute("hx-select-oob").split(",")).map((id) => document.querySelector(id));
	return live.filter((part) => part && !part.dataset.shows).flatMap((part) => [part, ...part.querySelectorAll("a[href], button, [tabindex]")].filter((e) => e.tabIndex === 0 && e.checkVisibility()).slice(-1)
		.map((e) => ({Part: part.id, Text: (e.innerText || e.ariaLabel || e.id).replace(/\d/g, ""), Take: () => {
			e.focus();
			part.dataset.old = "";
			for (const box of [part, ...part.querySelectorAll("*")]) if (/auto|scroll/.test(getComputedStyle(box).overflow)) box.scrollTo(7, 3);
		}})));
})()`

const scrolled = `[...document.querySelectorAll("main *")].map((e) => e.scrollLeft + " " + e.scrollTop).filter((at) => at !== "0 0").join()`

// While the sandbox goes on, who goes through a page by keys stays there, and what was scrolled stays so.
func TestLivePartsKeepTheFocus(t *testing.T) {
	t.Parallel()
	s := busyShop(t)
	b := newTab(t)
	b.signIn(s)
	b.size(640, 800) // tables are wider than the window
	console, tried, scrolls := consoleOf(s.Sandbox), 0, 0
	for _, path := range b.pages() {
		b.open(console + path)
		if !b.has("[data-stream]") {
			continue
		}
		b.until(`document.querySelector(".live") && !document.querySelector(".live.off")`)
		for i, at := range read[[]struct{ Part, Text string }](b, reader) {
			before := read[string](b, fmt.Sprintf(`(%s[%d].Take(), %s)`, reader, i, scrolled))
			read[bool](b, `htmx.trigger("[data-stream]", "changed")`)
			b.until(`!document.querySelector("[data-old]")`)
			focus := read[string](b, `((e) => e === document.body ? "nothing" : (e.innerText || e.ariaLabel || e.id).replace(/\d/g, ""))(document.activeElement)`)
			if tried++; focus != at.Text {
				t.Errorf("%s: after #%s was replaced, %q has the focus, which %q had", path, at.Part, focus, at.Text)
			}
			if after := read[string](b, scrolled); after != before {
				t.Errorf("%s: after #%s was replaced, its parts are scrolled by %q, before by %q", path, at.Part, after, before)
			} else if before != "" {
				scrolls++
			}
		}
	}
	if tried < 20 || scrolls < 2 {
		t.Errorf("%d parts had the focus, and %d were scrolled", tried, scrolls)
	}

	const link = `document.querySelector("#timeline a")`
	b.open(console + "/payments/" + s.paid)
	b.until(`document.querySelector(".live") && !document.querySelector(".live.off")`)
	read[bool](b, link+`.focus() === undefined`)
	s.post("/payments/"+s.paid+"/refund", object{"amount": 100, "reference": "refund-while-reading"})
	b.shows("#lead", "2,600")
	if !read[bool](b, `document.activeElement === `+link) {
		t.Errorf("after a refund, the focus is in %s", read[string](b, `document.activeElement.outerHTML.slice(0, 200)`))
	}
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Tab)))
	if !read[bool](b, link+`.compareDocumentPosition(document.activeElement) === Node.DOCUMENT_POSITION_FOLLOWING`) {
		t.Errorf("Tab goes from the timeline to %s", read[string](b, `document.activeElement.outerHTML.slice(0, 200)`))
	}
	read[bool](b, link+`.focus() === undefined && (`+link+`.href = "#gone", htmx.trigger("[data-stream]", "changed"), true)`)
	b.until(link + `.hash !== "#gone"`)
	if at := read[string](b, `document.activeElement.id`); at != "timeline" {
		t.Errorf("after its link is gone, the focus is in %q, want the part", at)
	}
}
