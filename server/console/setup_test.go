package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// viewer returns a browser whose session may change nothing.
func (f *fixture) viewer() *browser {
	b := f.browser()
	b.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	return b
}

func TestSetupSaysWhatTheDatabaseKnows(t *testing.T) {
	f := newFixture(t, func(o *fronts.Options) {
		o.BaseURL = &url.URL{Scheme: "https", Host: "pay.example.com", Path: "/cauri/"}
		domain, err := sandboxes.NewOperatorDomain("operators.example.com", o.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		o.Roots = fronts.RootsBelow(domain, o.Directory)
	})
	f.config.Faults = []byte(`[{"name":"busy","api":{"status":503}}]`)
	f.config.Webhook = &sandboxes.WebhookConfig{URL: "https://user:hunter2@shop.example/hook?token=hunter2"}
	f.apply(f.config, key)
	b := f.viewer()
	text := b.get(checkout + "/setup").text
	for _, want := range []string{
		"CAURI_URI https://pay.example.com/cauri/sandboxes/team/checkout", "api-key of the Secret checkout-credentials", "Fingerprint ",
		"https://shop.example/hook", "MTN RW …/operators/mtn If your client joins absolute paths to its base URL: https://mtn-" + f.hostCode() + ".operators.example.com mtn-api-key mtn-api-user mtn-subscription-key",
		"Stores the field application of a payment shop",
		"MTN RW Unknown numbers: reject 1.5 % 100 % reject", "busy", "kubectl -n team get sandboxenvironment checkout", "look at everything, change nothing",
		"One session of this console is open.", "change test clients and reset the sandbox",
	} {
		if got := words(part(text, "<main", "</main>")); !strings.Contains(got, want) {
			t.Errorf("Setup has no %q: %s", want, got)
		}
	}
	for _, secret := range []string{key, "whsec_", "hunter2"} {
		if strings.Contains(text, secret) {
			t.Errorf("Setup shows %s", secret)
		}
	}
	if !strings.Contains(text, `href="../docs"`) {
		t.Error("no link leads to the description of the API")
	}
}

// hostCode is the code of the sandbox in the names of hosts.
func (f *fixture) hostCode() string {
	f.t.Helper()
	return sandboxes.HostCode(f.of("checkout").OrganizationID)
}

func TestSetupEndsSessions(t *testing.T) {
	f := newFixture(t)
	b, viewer := f.signedIn(checkout, key), f.viewer()
	text := b.get(checkout + "/setup").text
	ids := regexp.MustCompile(`name="session" value="(cs_[^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(ids) != 2 {
		t.Fatalf("%d sessions: %s", len(ids), text)
	}
	own := regexp.MustCompile(`<code>(cs_[^<]*)</code>\s*<span class="sub">this one`).FindStringSubmatch(text)[1]
	other := ids[0][1]
	if other == own {
		other = ids[1][1]
	}
	if strings.Contains(viewer.get(checkout+"/setup").text, `name="session"`) {
		t.Error("a viewer sees buttons")
	}
	if got := viewer.post(checkout, "/setup/sessions", url.Values{"session": {own}}); got.status != http.StatusForbidden || !b.open(checkout) {
		t.Errorf("a viewer ended a session: %d", got.status)
	}
	if got := f.signedIn("/sandboxes/team/other/console", otherKey).post("/sandboxes/team/other/console", "/setup/sessions",
		url.Values{"session": {own}}); got.status != http.StatusNotFound || !b.open(checkout) {
		t.Errorf("the console of another sandbox: %d", got.status)
	}
	if got := b.post(checkout, "/setup/sessions", url.Values{"session": {other}}); got.status != http.StatusSeeOther ||
		got.header.Get("Location") != "../setup" || viewer.open(checkout) || !b.open(checkout) {
		t.Errorf("ending another session: %d to %q", got.status, got.header.Get("Location"))
	}
	if got := b.post(checkout, "/setup/sessions", url.Values{"session": {other}}); got.status != http.StatusNotFound {
		t.Errorf("ending it again: %d", got.status)
	}
	if got := b.post(checkout, "/setup/sessions", url.Values{"session": {own}}); got.header.Get("Location") != "../sign-in" || b.open(checkout) {
		t.Errorf("ending the own session: %d", got.status)
	}
}

func TestResetAsksForTheName(t *testing.T) {
	f := newFixture(t)
	f.pay(key, stranger, "ref-1", "")
	b, viewer := f.signedIn(checkout, key), f.viewer()
	tenant := f.of("checkout").Tenant
	page := b.get(checkout + "/reset")
	for _, want := range []string{"all payments, refunds and disbursements", "the API key and the signing secret", "Write checkout"} {
		if page.status != http.StatusOK || !strings.Contains(page.text, want) {
			t.Errorf("the form has no %q: %d", want, page.status)
		}
	}
	if text := b.get(checkout + "/setup").text; !strings.Contains(text, `<dialog id="reset"`) || !strings.Contains(text, `data-dialog="reset"`) {
		t.Error("Setup has no dialog")
	}
	for _, wrong := range []string{"", "Checkout", "other"} {
		got := b.post(checkout, "/reset", url.Values{"name": {wrong}})
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, "Nothing was reset.") || f.of("checkout").Tenant != tenant {
			t.Errorf("with the name %q: %d", wrong, got.status)
		}
	}
	if got := viewer.post(checkout, "/reset", url.Values{"name": {"checkout"}}); got.status != http.StatusForbidden || f.of("checkout").Tenant != tenant {
		t.Errorf("a viewer: %d", got.status)
	}
	if text := viewer.get(checkout + "/setup").text; strings.Contains(text, "Reset this sandbox") {
		t.Error("a viewer sees the button")
	}
	got := b.post(checkout, "/reset", url.Values{"name": {" checkout "}})
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "overview" || f.of("checkout").Tenant == tenant {
		t.Errorf("the reset: %d to %q", got.status, got.header.Get("Location"))
	}
	if text := b.get(checkout + "/payments").text; !strings.Contains(text, "Nothing has been paid since the last reset.") || !viewer.open(checkout) {
		t.Error("the reset left payments, or ended a session")
	}
	f.logged()
	if rows := requestRows(b.get(checkout + "/requests?show=changes").text); len(rows) != 1 || rows[0] != "POST /console/reset reset the sandbox done" {
		t.Errorf("the request log has %q", rows)
	}
}

func TestResetThatTheSandboxDoesNotAllow(t *testing.T) {
	f := newFixture(t)
	f.config.API.Reset = false
	f.apply(f.config, key)
	b := f.signedIn(checkout, key)
	if text := b.get(checkout + "/setup").text; strings.Contains(text, `<dialog id="reset"`) {
		t.Error("Setup has the dialog")
	}
	if text := b.get(checkout + "/reset").text; strings.Contains(text, `name="name"`) || !strings.Contains(text, "kubectl cauri reset checkout") {
		t.Errorf("the page has the form: %s", text)
	}
	if got := b.post(checkout, "/reset", url.Values{"name": {"checkout"}}); got.status != http.StatusForbidden {
		t.Errorf("the reset answered %d", got.status)
	}
}

func TestPagesHaveCounts(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788100001","name":"Awa","behavior":"Manual","balance":5000}`)
	b := f.signedIn(checkout, key)
	counts := func() string {
		var all []string
		for _, found := range regexp.MustCompile(`(?s)id="count-([a-z]+)"( hidden)?>(.*?)</span>`).FindAllStringSubmatch(b.get(checkout+"/ledger").text, -1) {
			all = append(all, found[1]+found[2]+" "+words(found[3]))
		}
		return strings.Join(all, ", ")
	}
	if got, want := counts(), "handsets hidden 0 phones ring, payments hidden 0 payments pending, webhooks hidden 0 events are not acknowledged, requests hidden 0 requests refused in the last hour, faults hidden 0 faults were switched on"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.pay(key, "+250788100001", "ref-1", "")
	f.ask(key, http.MethodGet, "/v1/payments?limit=0", "")
	f.ask(key, http.MethodGet, "/v1/payments?limit=x", "")
	f.logged()
	b.switchOn("twice", nil)
	if got, want := counts(), "handsets 1 phone rings, payments 1 payment pending, webhooks hidden 0 events are not acknowledged, requests 2 requests refused in the last hour, faults 1 fault was switched on"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.exec("update requests set received_at = now() - interval '61 minutes'")
	if got := counts(); !strings.Contains(got, "requests hidden 0") {
		t.Errorf("after an hour: %s", got)
	}
}

func TestChangesOfASuspendedSandboxAreRefused(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	f.config.Suspended = true
	f.apply(f.config, key)
	f.of("checkout")
	for _, path := range []string{"/overview", "/payments", "/webhooks", "/requests", "/ledger", "/ledger/RWF", "/faults", "/setup", "/reset"} {
		if got := b.get(checkout + path); got.status != http.StatusOK || !strings.Contains(html.UnescapeString(got.text), "This sandbox is suspended.") {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := b.post(checkout, "/clock", url.Values{"by": {"1h"}}); got.status != http.StatusServiceUnavailable {
		t.Errorf("the clock: %d %s", got.status, got.text)
	}
}
