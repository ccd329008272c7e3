package browser

import (
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
		console + "/overview": "All events", console + "/payments": "Awa Koné", console + "/payments/" + id: "{", console + "/handsets": "Change",
		order: "Annuler",
	} {
		all, well := b.stops(address, ends)
		for range 2 {
			if !well { // the page may have changed under the keys, as it follows the sandbox
				all, well = b.stops(address, ends)
			}
		}
		if !well {
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
