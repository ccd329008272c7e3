package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// within guards against hanging only.
const within = time.Minute

// tab is a page of a browser with cookies and a cache of its own. Its test fails for a violation of the page's policy,
// an error of a script, and a request to another host.
type tab struct {
	t      *testing.T
	ctx    context.Context
	origin string // of all requests

	clicks int // of the mouse

	mu       sync.Mutex
	wrong    []string
	requests []*network.EventRequestWillBeSent
	sizes    map[network.RequestID]float64 // bytes that were transferred
}

// newTab opens a tab.
func newTab(t *testing.T) *tab {
	t.Helper()
	b := &tab{t: t, origin: running.api.URL, sizes: map[network.RequestID]float64{}}
	ctx, end := chromedp.NewContext(running.chromium, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	b.ctx = ctx
	t.Cleanup(func() {
		end()
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.wrong) > 0 {
			t.Error("the browser reports:" + lines(b.wrong))
		}
	})
	b.do(chromedp.Do(ctx))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	b.do(err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	b.do(err)
	b.size(1280, 900)
	return b
}

// hear keeps what the browser reports.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	report := func(format string, args ...any) { b.wrong = append(b.wrong, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *log.EventEntryAdded:
		// An answer such as 403 is an entry too, and a test reads the page of the answer. A click may be faster than autofocus.
		if e.Entry.Source != log.EntrySourceNetwork && !strings.HasPrefix(e.Entry.Text, "Autofocus processing was blocked") {
			report("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		report("script: %s", e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && !strings.HasPrefix(e.Request.URL, b.origin+"/") {
			report("a request to %s", e.Request.URL)
		}
		b.requests = append(b.requests, e)
	case *network.EventLoadingFinished:
		b.sizes[e.RequestID] = e.EncodedDataLength
	}
}

func (b *tab) do(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// call sends a command of the protocol without a result.
func call[P any](b *tab, command cdp.Command[P, cdp.Empty], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	b.do(err)
}

// size sets the size of the window in CSS pixels.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600,
	})
}

// prefer sets the appearance of the system, light or dark.
func (b *tab) prefer(appearance string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: appearance}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// speak sets the language that the browser asks for.
func (b *tab) speak(language string) {
	b.t.Helper()
	call(b, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": language}})
}

// open goes to an address and waits until the page is loaded.
func (b *tab) open(address string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		b.t.Fatalf("%s: %v", address, err)
	}
}

// read evaluates an expression in the page.
func read[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits for an expression to be true, also on a page that comes after this one. A page that is still read has its style
// before its text, so only a page that is loaded counts.
func (b *tab) until(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		yes, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && Boolean(`+expression+`)`))
		if err == nil && yes {
			return
		}
		if b.ctx.Err() != nil || time.Now().After(deadline) {
			b.t.Fatalf("%s does not become true (%v) on %s:\n%s", expression, err, b.address(), b.text("body"))
		}
	}
}

// shows waits for a text in an element.
func (b *tab) shows(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`((e) => e?.checkVisibility() && e.innerText.includes(%s))(document.querySelector(%s))`, quoted(text), quoted(selector)))
}

// text is the visible text of an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return read[string](b, fmt.Sprintf(`document.querySelector(%s)?.innerText ?? ""`, quoted(selector)))
}

// has reports whether the page has an element.
func (b *tab) has(selector string) bool {
	b.t.Helper()
	return read[bool](b, fmt.Sprintf(`document.querySelector(%s) !== null`, quoted(selector)))
}

// address is the path and query of the page.
func (b *tab) address() string {
	b.t.Helper()
	return read[string](b, `location.pathname + location.search`)
}

// click clicks on the visible button or link with a text.
func (b *tab) click(text string) {
	b.t.Helper()
	b.press(fmt.Sprintf(`[...document.querySelectorAll("button, a, summary, label")].find(
		(e) => e.innerText.trim().startsWith(%s) && e.checkVisibility({visibilityProperty: true}))`, quoted(text)))
}

// press clicks with the mouse on an element, which an expression names.
func (b *tab) press(expression string) {
	b.t.Helper()
	b.until(expression)
	at := read[struct{ X, Y float64 }](b, fmt.Sprintf(`(() => {
		const e = %s;
		e.scrollIntoView({block: "center", behavior: "instant"});
		const box = e.getBoundingClientRect();
		return {X: box.x + Math.min(box.width / 2, 40), Y: box.y + box.height / 2};
	})()`, expression))
	b.do(chromedp.Do(b.ctx, chromedp.MouseClickXY(at.X, at.Y)))
	b.clicks++
}

// fill writes into a field.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.press(fmt.Sprintf(`document.querySelector(%s)`, quoted(selector)))
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(text)))
}

// withoutScripts switches the scripts of pages off.
func (b *tab) withoutScripts() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// overflow is the number of CSS pixels by which the page, or an open dialog, is wider than what shows it, with the elements
// that stand out.
func (b *tab) overflow() string {
	b.t.Helper()
	return read[string](b, `[document.documentElement, ...document.querySelectorAll("dialog[open]")].map((box) => {
		const left = box.getBoundingClientRect().left + box.clientLeft;
		const edge = Math.min(left + box.clientWidth, document.documentElement.clientWidth), wider = Math.round(left + box.scrollWidth - edge);
		if (wider < 1) return "";
		const out = [...box.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > edge + 1);
		return wider + " px: " + out.slice(0, 5).map((e) => e.outerHTML.slice(0, 120)).join("\n  ");
	}).filter(Boolean).join("\n")`)
}

// broken are the buttons whose text does not fit into one line.
const broken = `[...document.querySelectorAll(".btn:not(.due)")].filter((e) => {
	const text = document.createRange();
	text.selectNodeContents(e);
	return e.checkVisibility() && text.getBoundingClientRect().height > 1.6 * parseFloat(getComputedStyle(e).lineHeight);
}).map((e) => e.innerText.trim())`

// fits tests that nothing scrolls sideways in windows of these widths, and that each button has one line, first as the page is,
// then with all that opens open. Details stay open.
func (b *tab) fits(name string, widths ...int64) {
	b.t.Helper()
	for _, state := range []string{"", ", with all open"} {
		for _, width := range widths {
			b.size(width, 900)
			if wider := b.overflow(); wider != "" {
				b.t.Errorf("%s%s is wider than %d px by %s", name, state, width, wider)
			}
			if found := read[[]string](b, broken); len(found) > 0 {
				b.t.Errorf("%s%s has buttons with two lines at %d px: %q", name, state, width, found)
			}
		}
		read[bool](b, `[...document.querySelectorAll("details, .fold, dialog:not([open])")].forEach((e) => {
			if (e.matches("dialog")) e.showModal(), e.dataset.byTest = "";
			else e[e.matches("details") ? "open" : "checked"] = true;
		}) === undefined`)
	}
	read[bool](b, `document.querySelectorAll("dialog[data-by-test]").forEach((d) => d.close()) === undefined`)
}

//go:embed testdata/axe.min.js
var axe string

// violations runs axe-core on the page, with these rules or with all of them, and returns what it finds.
func (b *tab) violations(rules ...string) []string {
	b.t.Helper()
	if !read[bool](b, `"axe" in window`) {
		b.do(chromedp.Do(b.ctx, chromedp.Evaluate[chromedp.Void](axe)))
	}
	only := ""
	if len(rules) > 0 {
		text, _ := json.Marshal(rules) // strings always encode
		only = `, runOnly: ` + string(text)
	}
	return read[[]string](b, `axe.run(document, {resultTypes: ["violations"], preload: false`+only+`}).then((r) => r.violations.flatMap(
		(v) => v.nodes.map((n) => v.id + ": " + n.failureSummary.replace(/\s+/g, " ") + " " + n.html.slice(0, 200))))`)
}

// quoted is a text as JavaScript.
func quoted(text string) string {
	encoded, _ := json.Marshal(text) // strings always encode
	return string(encoded)
}
