package browser

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

// id matches the ids in the paths of pages.
var id = regexp.MustCompile(`/(TX|evt|log)_[0-9A-Za-z]+|/[+%][0-9A-Za-z%:+]+|/[A-Z]{3}$`)

// pages are the paths of all pages that links lead to, one for each form of a path, below the console's address.
func (b *tab) pages() []string {
	b.t.Helper()
	console := read[string](b, `location.pathname.replace(/\/console\/.*/, "/console")`)
	found, forms := []string{}, map[string]bool{}
	add := func() {
		for _, path := range read[[]string](b, fmt.Sprintf(`[...document.querySelectorAll("a[href]")].filter((a) => !a.hasAttribute("download"))
			.map((a) => a.pathname).filter((p) => p.startsWith(%s)).map((p) => p.slice(%d))`, quoted(console+"/"), len(console))) {
			if form := id.ReplaceAllString(path, "/{id}"); !forms[form] && form != "/" {
				forms[form] = true
				found = append(found, path)
			}
		}
	}
	add()
	for i := 0; i < len(found); i++ {
		b.open(b.origin + console + found[i])
		add()
	}
	if len(found) < 3 {
		b.t.Fatalf("only %q are found", found)
	}
	return found
}

// inspect looks at the page: it is as wide as the window, and axe finds nothing, in the light and in the dark.
func (b *tab) inspect(name string) {
	b.t.Helper()
	b.fits(name, 390, 320)
	b.isSound(name + ", 320 px")
	b.size(1280, 900)
	b.isSound(name + ", 1280 px")
	b.prefer("dark")
	b.isSound(name+", dark", "color-contrast")
	b.prefer("light")
}

// glance looks at a page of a kind that [tab.inspect] sees elsewhere, such as one without contents. With CAURI_TEST_WHOLE=1 it
// looks as closely: axe takes longer than all the rest.
func (b *tab) glance(name string) {
	b.t.Helper()
	if isWhole() {
		b.inspect(name)
		return
	}
	b.fits(name, 390, 320)
	b.size(1280, 900)
	b.isSound(name)
}

// isWhole reports whether tests look at everything, however long it takes: see `make verify`.
func isWhole() bool { return os.Getenv("CAURI_TEST_WHOLE") != "" }

// isSound tests that axe finds nothing, by these rules or by all.
func (b *tab) isSound(name string, rules ...string) {
	b.t.Helper()
	if found := b.violations(rules...); len(found) > 0 {
		b.t.Errorf("%s:%s", name, lines(found))
	}
}

// inspectFrench looks at the page in French, whose texts are longer. Colors are those of [tab.inspect].
func (b *tab) inspectFrench(address, name string) {
	b.t.Helper()
	b.speak("fr")
	defer b.speak("en")
	b.open(address)
	if language := read[string](b, `document.documentElement.lang`); language != "fr" {
		b.t.Errorf("%s is in %q, want French", name, language)
	}
	b.fits(name+", in French", 390, 320, 1280)
	b.isSound(name + ", in French")
}

// inspectAll inspects all pages that links lead to, and these, in both languages.
func (b *tab) inspectAll(s *shop, more ...string) {
	b.t.Helper()
	for _, path := range append(b.pages(), more...) {
		b.open(consoleOf(s.Sandbox) + path)
		b.inspect(path)
		b.inspectFrench(consoleOf(s.Sandbox)+path, path)
	}
}

// glanceAtAll glances at all pages that links lead to. That they are there in French too is seen by [tab.inspectAll].
func (b *tab) glanceAtAll(s *shop) {
	b.t.Helper()
	if isWhole() {
		b.inspectAll(s)
		return
	}
	for _, path := range b.pages() {
		b.open(consoleOf(s.Sandbox) + path)
		b.glance(path)
	}
}

func TestPagesOfABusySandbox(t *testing.T) {
	t.Parallel()
	s := busyShop(t)
	b := newTab(t)
	b.signIn(s)
	b.inspectAll(s, "/payments?status=TIMEOUT", "/payments?number=1&after=tomorrow", "/payments?type=refund&order=kivu", "/nothing",
		"/payments/TX_0", "/webhooks/evt_0")
}

func TestPagesOfAnEmptySandbox(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge, func(c *sandboxes.Config) { c.Webhook = nil })
	b := newTab(t)
	b.signIn(s)
	b.shows("#lead", "Nothing has happened yet")
	b.glanceAtAll(s)
}

func TestPagesOfASuspendedSandboxThatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	s := busyShop(t)
	s.exec("update floats set balance = balance + 7 where tenant = $1 and currency = 'RWF'", s.Tenant)
	b := newTab(t)
	b.follow(s.link("viewer"))
	if err := s.Apply(t.Context(), func(c *sandboxes.Config) { c.Suspended = true }); err != nil {
		t.Fatal(err)
	}
	b.until(`(document.querySelector("main").innerText.includes("This sandbox is suspended.") || location.reload(), true) &&
		document.querySelector("main").innerText.includes("This sandbox is suspended.")`)
	b.shows("#lead", "The ledger does not add up")
	b.shows("#balances", "+7")
	b.glanceAtAll(s)
}

func TestPagesBeforeSigningIn(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	b := newTab(t)
	link := s.link("viewer")
	b.open(consoleOf(s.Sandbox) + "/sign-in")
	b.inspect("sign-in")
	b.inspectFrench(consoleOf(s.Sandbox)+"/sign-in", "sign-in")
	b.open(consoleOf(s.Sandbox) + "/sign-in")
	b.fill("#key", "cauri_sk_test_wrong")
	b.click("Sign in")
	b.shows("#key-wrong", "This is not a key")
	b.inspect("wrong key")
	b.open(link)
	b.inspect("link")
	b.inspectFrench(link, "link")
	b.open(consoleOf(s.Sandbox) + "/link?token=used")
	b.shows("h1", "This link opens nothing")
	b.inspect("dead link")
}

// A first visit waits for two round trips, and for 30 KB, before it shows something: the page, and what it names. All that it
// loads, as it is sent, is at most 60 KB for a page of the console, and 150 KB for a page that describes an API.
func TestPagesAreSmall(t *testing.T) {
	t.Parallel()
	const first, limit, docs = 30_000, 60_000, 150_000
	s := busyShop(t)
	for i := range 24 { // a full page of phones that ring
		msisdn := fmt.Sprintf("+2507887%05d", i)
		s.client(msisdn, fmt.Sprintf("Client %d", i), "Manual", 50_000)
		s.pay(fmt.Sprintf("rings-%d", i), msisdn, 1_000, nil)
	}
	b := newTab(t)
	b.signIn(s)
	console := consoleOf(s.Sandbox)
	limits := map[string]float64{console + "/sign-in": limit}
	for _, path := range b.pages() {
		limits[console+path] = limit
	}
	for _, path := range docsPages() {
		limits[sandboxOf(s)+path] = docs
	}
	call(b, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	for page, limit := range limits {
		path := strings.TrimPrefix(page, sandboxOf(s))
		b.mu.Lock()
		b.requests = nil
		b.mu.Unlock()
		b.open(page)
		b.mu.Lock()
		bytes, all, blocking := 0.0, 0.0, []string{}
		for _, r := range b.requests {
			all += b.sizes[r.RequestID]
			document := r.Type == network.ResourceTypeDocument
			if !document && r.RenderBlockingBehavior != network.RenderBlockingBehaviorBlocking {
				continue
			}
			if !document && r.Initiator.URL != page {
				t.Errorf("%s waits for %s, which %s names: a third round trip", path, r.Request.URL, r.Initiator.URL)
			}
			blocking = append(blocking, fmt.Sprintf("%6.0f bytes of %s", b.sizes[r.RequestID], r.Request.URL))
			bytes += b.sizes[r.RequestID]
		}
		b.mu.Unlock()
		if limit == docs { // it is all there at once
			bytes = 0
		}
		if bytes > first || all > limit || all < 20_000 || len(blocking) < 2 {
			t.Errorf("%s waits for %.0f bytes, at most %d are allowed, and for the style sheet:%s\nIt loads %.0f in all, of %.0f",
				path, bytes, first, lines(blocking), all, limit)
		}
		t.Logf("%s waits for %.0f bytes and loads %.0f", path, bytes, all)
	}
}
