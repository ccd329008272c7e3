package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

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
