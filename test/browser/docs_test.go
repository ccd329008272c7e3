package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/test/system"
)

// docsPages are the paths of the pages that describe the APIs.
func docsPages() []string {
	paths := []string{"/docs"}
	for _, api := range operators.NativeAPIs() {
		paths = append(paths, "/docs/"+string(api.Operator))
	}
	return paths
}

func sandboxOf(s *shop) string { return strings.TrimSuffix(consoleOf(s.Sandbox), "/console") }

// The pages that describe the APIs fit as those of the console do: at each width, in the light and in the dark. They load nothing from
// elsewhere, and the browser reports nothing. At the address of a sandbox they differ only in the addresses of their examples.
func TestDocsPages(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	for _, path := range docsPages() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			for _, base := range []string{running.api.URL, sandboxOf(s)} {
				b.open(base + path)
				if code := b.text("article .request"); !strings.Contains(code, base+"/") {
					t.Errorf("the examples of %s call another address:\n%s", base+path, code)
				}
			}
			if path == "/docs" {
				b.inspect(path)
			} else { // of the same parts
				b.glance(path)
			}
		})
	}
}

// visible are the languages of the examples that are shown.
const visible = `[...new Set([...document.querySelectorAll(".request pre")].filter((e) => e.checkVisibility()).map((e) => e.className))].join()`

// A language is chosen once for all examples, also for the other pages and the console's examples, and without scripts.
func TestDocsKeepTheLanguage(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	b := newTab(t)
	b.open(sandboxOf(s) + "/docs")
	if got := read[string](b, visible); got != "in-curl" {
		t.Fatalf("%q is shown first", got)
	}
	b.press(`document.querySelector("#createRefund .request label[for=in-python]")`)
	b.until(visible + ` === "in-python"`)
	b.open(sandboxOf(s) + "/docs/mtn")
	b.until(visible + ` === "in-python"`)
	if kept := read[string](b, `localStorage.getItem("language")`); kept != "Python" || read[int](b, `localStorage.length`) != 1 {
		t.Errorf("the browser keeps %q, and perhaps more", kept)
	}
	b.do(chromedp.Do(b.ctx, chromedp.Evaluate[chromedp.Void](`document.getElementById("in-python").focus()`)))
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(kb.ArrowRight)))
	b.until(visible + ` === "in-php"`)
	b.withoutScripts()
	b.open(sandboxOf(s) + "/docs")
	b.press(`document.querySelector("#createRefund .request label[for=in-go]")`)
	b.until(visible + ` === "in-go"`)
}

// A button that copies says so, to eyes by its icon and to a screen reader in words, as in the console.
func TestDocsCopiesAreSaid(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.open(running.api.URL + "/docs")
	const button = `document.querySelector("button.copy")`
	b.until(button + `.focus() === undefined`)
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent("\r")))
	b.until(`[...document.querySelectorAll("[role=status]")].some((e) => e.innerText === "Copied")`)
	b.until(button + `.querySelector("use").getAttribute("href").endsWith("#check")`)
	b.until(button + `.querySelector("use").getAttribute("href").endsWith("#copy") &&
		![...document.querySelectorAll("[role=status]")].some((e) => e.innerText === "Copied")`)
}

// Search finds routes, fields, codes and texts, and leads to them.
func TestDocsSearch(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.open(running.api.URL + "/docs")
	for _, c := range []struct{ words, first, id string }{
		{"refund", "Refund a payment", "createRefund"},
		{"refund /v1", "Refund a payment", "createRefund"},
		{"advance clock", "Advance the clock", "advanceClock"},
		{"exceeds_refundable", "exceeds_refundable", "error-exceeds_refundable"},
		{"disbursement.completed", "disbursement.completed", "disbursement.completed"},
	} {
		b.do(chromedp.Do(b.ctx, chromedp.KeyEvent("/")))
		b.until(`document.activeElement.id === "find" && (document.activeElement.select(), true)`) // the protocol sends the character too
		b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(c.words)))
		b.until(fmt.Sprintf(`document.querySelector("#found a")?.firstChild.textContent === %s`, quoted(c.first)))
		b.do(chromedp.Do(b.ctx, chromedp.KeyEvent("\r")))
		b.until(fmt.Sprintf(`location.hash === %s && document.getElementById("found").hidden`, quoted("#"+c.id)))
		b.until(fmt.Sprintf(`(({top}) => top >= 0 && top < innerHeight / 2)(document.getElementById(%s).getBoundingClientRect())`, quoted(c.id)))
		b.do(chromedp.Do(b.ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`)))
	}
	b.fill("#find", "zebra")
	b.shows("#found", "Nothing on this page")
}

// The menu marks what is read, and shows the mark. On a phone it lies over the page, and goes when a link of it was followed.
func TestDocsMenuFollows(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.open(running.api.URL + "/docs")
	const marked = `document.querySelector(".contents [aria-current]")`
	for _, id := range []string{"createDisbursement", "errors", "createPayment"} {
		b.do(chromedp.Do(b.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.getElementById(%s).scrollIntoView()`, quoted(id)))))
		b.until(fmt.Sprintf(`%s.hash === %s`, marked, quoted("#"+id)))
		b.until(fmt.Sprintf(`(({top, bottom}) => top >= 0 && bottom <= innerHeight)(%s.getBoundingClientRect())`, marked))
	}
	b.size(390, 844)
	b.until(`!document.getElementById("menu").checkVisibility()`)
	b.press(`document.querySelector("[popovertarget]")`)
	b.until(marked + `.checkVisibility()`)
	b.press(`document.querySelector(".contents a[href='#getClock']")`)
	b.until(`location.hash === "#getClock" && !document.getElementById("menu").checkVisibility()`)
	if y := read[float64](b, `document.querySelector(".top").getBoundingClientRect().top`); y != 0 {
		t.Errorf("the button of the menu is %v px away", y)
	}
}

// The appearance is chosen as in the console, and for both.
func TestDocsAppearance(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	b := newTab(t)
	b.withoutScripts()
	chosen := ""
	for i, path := range append(docsPages(), "/docs") {
		theme := []string{"Light", "Dark"}[i%2]
		b.open(sandboxOf(s) + path)
		b.click(theme)
		chosen = `document.documentElement.dataset.theme === ` + quoted(strings.ToLower(theme))
		b.until(chosen)
		if at := b.address(); !strings.HasSuffix(at, path) {
			t.Errorf("the switch of %s leads to %s", path, at)
		}
	}
	b.signIn(s)
	b.until(chosen)
	b.open(sandboxOf(s) + "/docs")
	b.click("Auto")
	b.until(`!("theme" in document.documentElement.dataset)`)
}

// TestScreenshotsOfDocs writes pictures of parts of the pages. They are looked at, and not compared.
func TestScreenshotsOfDocs(t *testing.T) {
	if os.Getenv(folderVariable) == "" {
		t.Skip("`make screenshots` writes them")
	}
	s := newShop(t, system.Acknowledge, named("team-payments", "shop"))
	b := newTab(t)
	for _, path := range docsPages() {
		b.open(sandboxOf(s) + path)
		for _, id := range []string{"start", "addresses", "createPayment", "post_collection_v1_0_requesttopay", "verification", "errors", "facts"} {
			if b.has("#" + id) {
				b.docsPictures(strings.ReplaceAll(path[1:], "/", "-")+"-"+id, id)
			}
		}
	}
}

// docsPictures writes a part of a long page in each width and appearance.
func (b *tab) docsPictures(name, id string) {
	b.t.Helper()
	for suffix, width := range map[string]int64{"": 1280, "-dark": 1280, "-390": 390} {
		b.size(width, 1100)
		b.prefer(map[bool]string{true: "dark", false: "light"}[suffix == "-dark"])
		read[bool](b, `document.getElementById(`+quoted(id)+`).scrollIntoView() === undefined`)
		b.picture(filepath.Join(os.Getenv(folderVariable), name+suffix+".webp"), false)
	}
	b.prefer("light")
}

// Paper has everything but the menu, in ink on white, whatever the appearance on the screen is.
func TestDocsPrint(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	b.open(running.api.URL + "/docs")
	ink := read[string](b, `getComputedStyle(document.body).color`)
	b.click("Dark")
	b.until(`getComputedStyle(document.body).color !== ` + quoted(ink))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.until(`getComputedStyle(document.body).color === ` + quoted(ink))
	for selector, shown := range map[string]bool{"#createRefund details .errors": true, ".side": false, ".top": false, ".request .in-go": false} {
		if got := read[bool](b, fmt.Sprintf(`document.querySelector(%s).checkVisibility()`, quoted(selector))); got != shown {
			t.Errorf("%s is printed: %t", selector, got)
		}
	}
}
