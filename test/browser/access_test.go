package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/test/system"
)

// signIn opens the console of a sandbox with its key.
func (b *tab) signIn(s *shop) {
	b.t.Helper()
	b.open(consoleOf(s.Sandbox) + "/sign-in")
	b.fill("#key", s.Key)
	b.click("Sign in")
	b.until(`location.pathname.endsWith("/console/overview")`)
}

// follow opens a link and presses its button.
func (b *tab) follow(link string) {
	b.t.Helper()
	b.open(link)
	b.click("Open the console")
	b.until(`location.pathname.endsWith("/console/overview")`)
}

func TestSignInByKey(t *testing.T) {
	t.Parallel()
	s, other := newShop(t, system.Acknowledge), newShop(t, system.Acknowledge)
	b := newTab(t)
	b.open(consoleOf(s.Sandbox))
	b.shows("h1", "Sign in to "+s.Config.Name)
	b.fill("#key", other.Key)
	b.click("Sign in")
	b.shows("#key-wrong", "This is not a key of "+s.Config.Name)
	if value := read[string](b, `document.querySelector("#key").value`); value != "" {
		t.Errorf("the page has the key again: %s", value)
	}
	b.fill("#key", s.Key)
	b.click("Sign in")
	b.shows("h1", "Overview")
	b.open(consoleOf(other.Sandbox) + "/payments")
	b.shows("h1", "Sign in to "+other.Config.Name)
	b.open(consoleOf(s.Sandbox) + "/payments")
	b.shows("h1", "Payments")
	b.click("Sign out")
	b.shows("h1", "Sign in to "+s.Config.Name)
	b.open(consoleOf(s.Sandbox) + "/payments")
	b.shows("h1", "Sign in to "+s.Config.Name)
}

func TestSignInByLink(t *testing.T) {
	t.Parallel()
	s := newShop(t, system.Acknowledge)
	link := s.link("full")
	preview := newTab(t)
	preview.open(link)
	preview.shows("main", "Open the console")
	b := newTab(t)
	b.follow(link)
	b.shows("h1", "Overview")
	preview.click("Open the console")
	preview.shows("h1", "This link opens nothing")
	expired := s.link("full")
	s.exec("update console_links set expires_at = now() where org_id = (select org_id from organizations where tenant = $1)", s.Tenant)
	preview.open(expired)
	preview.click("Open the console")
	preview.shows("h1", "This link opens nothing")
}

// A viewer sees everything, and neither a button nor a form that changes something. The forms that compare and evaluate
// change nothing.
func TestViewerChangesNothing(t *testing.T) {
	t.Parallel()
	s := busyShop(t)
	b := newTab(t)
	b.follow(s.link("viewer"))
	b.shows("main", "What happens")
	for _, path := range b.pages() {
		b.open(consoleOf(s.Sandbox) + path)
		forms := read[string](b, `[...document.querySelectorAll('main form[method="post"]')].filter((f) => !f.closest("#bytes") && !/keys$|#evaluate$/.test(f.getAttribute("action"))).map((f) => f.outerHTML).join("\n")`)
		if forms != "" {
			t.Errorf("%s has for a viewer: %s", path, forms)
		}
	}
	b.open(consoleOf(s.Sandbox) + "/overview")
	token := read[string](b, `document.querySelector('[name="token"]').value`)
	refused := read[int](b, `fetch("clock", {method: "POST", body: new URLSearchParams({by: "1h", token: `+quoted(token)+`})}).then((r) => r.status)`)
	if refused != http.StatusForbidden {
		t.Errorf("a viewer who advances the clock gets %d", refused)
	}
	if target := s.get("/clock")["target"]; target != nil {
		t.Errorf("a viewer moved the clock to %v", target)
	}
}

// What others wrote is text, and cannot turn the direction of what stands beside it.
func TestTextsStayText(t *testing.T) {
	t.Parallel()
	const hostile = "\u202e<img src=x onerror=alert(1)>'\"</td><script>alert(2)</script>\u2066"
	s := newShop(t, system.Acknowledge)
	s.client(jeanBosco, hostile, "Approve", 100_000)
	s.settled(s.pay("ref-1", jeanBosco, 1_000, object{"order_ref": hostile, "description": hostile, "customer_name": hostile}))
	b := newTab(t)
	b.signIn(s)
	seen := 0
	for _, path := range b.pages() {
		b.open(consoleOf(s.Sandbox) + path)
		if injected := read[int](b, `document.querySelectorAll("img, main script").length`); injected != 0 {
			t.Errorf("%s has elements of a text", path)
		}
		bare := read[[]string](b, `(() => {
			const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
			for (let n; n = walk.nextNode();) if (/[\u202e\u2066]/.test(n.data) && !n.parentElement.closest("bdi, pre, script")) found.push(n.parentElement.outerHTML);
			return found;
		})()`)
		if len(bare) > 0 {
			t.Errorf("%s shows a text of others outside of bdi:%s", path, lines(bare))
		}
		seen += strings.Count(b.text("main"), "<img src=x")
	}
	if seen < 2 {
		t.Errorf("the texts are seen %d times only", seen)
	}
}
