package console_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/cauri-dev/cauri/server/console"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
)

func TestSignInByKey(t *testing.T) {
	f := newFixture(t)
	b := f.browser()
	if b.open(checkout) {
		t.Fatal("the console is open to everybody")
	}
	wrong := b.send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {otherKey}})
	if wrong.status != http.StatusUnauthorized || !strings.Contains(wrong.text, "This is not a key of checkout") || b.open(checkout) {
		t.Errorf("the key of another sandbox: %d %s", wrong.status, wrong.text)
	}
	in := b.send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {" " + key + "\n"}})
	cookie, err := http.ParseSetCookie(in.header.Get("Set-Cookie"))
	if in.status != http.StatusSeeOther || in.header.Get("Location") != "overview" || err != nil {
		t.Fatalf("the key: %d to %q, %v", in.status, in.header.Get("Location"), err)
	}
	if want := "cauri_console_" + f.of("checkout").OrganizationID; cookie.Name != want || !cookie.HttpOnly || cookie.Secure ||
		cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" || cookie.MaxAge != 8*60*60 {
		t.Errorf("cookie %+v, want the name %s", cookie, want)
	}
	if secret, _ := strings.CutPrefix(cookie.Value, "cauri_cs_"); len(secret) != 43 { // 256 bits
		t.Errorf("the session's token is %q", cookie.Value)
	}
	page := b.get(checkout + "/overview")
	for _, secret := range []string{key, cookie.Value, strings.TrimPrefix(cookie.Value, "cauri_cs_")} {
		if strings.Contains(page.text, secret) {
			t.Errorf("a page has %s", secret)
		}
	}
	if b.open(other) {
		t.Error("the session opens another sandbox")
	}
}

// A session's cookie opens only its own sandbox, even under the cookie name of another one.
func TestSessionIsOfItsSandbox(t *testing.T) {
	f := newFixture(t)
	in := f.browser().send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {key}})
	cookie, err := http.ParseSetCookie(in.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{f.of("checkout").OrganizationID: 200, f.of("other").OrganizationID: 303} {
		for path, want := range map[string]int{checkout: map[bool]int{true: 200, false: 303}[want == 200], other: 303} {
			got := f.browser().send(http.MethodGet, path+"/overview", nil, func(r *http.Request) {
				r.AddCookie(&http.Cookie{Name: "cauri_console_" + name, Value: cookie.Value})
			})
			if got.status != want {
				t.Errorf("%s with the cookie of %s answered %d, want %d", path, name, got.status, want)
			}
		}
	}
}

func TestSecureCookieBehindHTTPS(t *testing.T) {
	f := newFixture(t, func(o *fronts.Options) { o.BaseURL = &url.URL{Scheme: "https", Host: "pay.example.com"} })
	in := f.browser().send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {key}})
	if cookie := in.header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-cauri_console_") || !strings.Contains(cookie, "; Secure") {
		t.Errorf("the cookie is %q", cookie)
	}
}

// The console does not reveal which sandboxes exist.
func TestSandboxThatDoesNotExistLooksLikeOneThatDoes(t *testing.T) {
	f := newFixture(t)
	b := f.browser()
	same := func(method, path string, form url.Values) {
		t.Helper()
		there := b.send(method, checkout+path, form)
		nowhere := b.send(method, strings.Replace(checkout, "checkout", "nowhere0", 1)+path, form)
		for _, header := range []http.Header{there.header, nowhere.header} {
			header.Del("X-Request-Id")
			header.Del("Date")
			header.Set("Link", strings.ReplaceAll(header.Get("Link"), "nowhere0", "checkout"))
		}
		nowhere.text = strings.ReplaceAll(nowhere.text, "nowhere0", "checkout")
		if there.status != nowhere.status || there.text != nowhere.text || cmp.Diff(there.header, nowhere.header) != "" {
			t.Errorf("%s %s: %d and %d, %s %s", method, path, there.status, nowhere.status, cmp.Diff(there.text, nowhere.text),
				cmp.Diff(there.header, nowhere.header))
		}
	}
	link := sandboxes.NewConsoleLinkToken(sandboxes.ConsoleViewer)
	same(http.MethodGet, "", nil)
	same(http.MethodGet, "/sign-in", nil)
	same(http.MethodGet, "/overview", nil)
	same(http.MethodGet, "/stream", nil)
	same(http.MethodGet, "/nothing", nil)
	same(http.MethodGet, "/link?token="+link, nil)
	same(http.MethodPost, "/sign-in", url.Values{"key": {"cauri_sk_test_guess"}})
	same(http.MethodPost, "/link", url.Values{"token": {link}})
	same(http.MethodPost, "/sign-out", nil)
	same(http.MethodPost, "/language", url.Values{"language": {"fr"}, "back": {"/sign-in"}})
	same(http.MethodGet, "/sign-in", nil)
	if got := b.get("/sandboxes/team/x';%20rm%20-rf%20'/console/sign-in"); got.status != http.StatusNotFound || strings.Contains(got.text, "rm -rf") {
		t.Errorf("a name that no sandbox can have: %d %s", got.status, got.text)
	}
}

func (f *fixture) link(access sandboxes.ConsoleAccess) string {
	f.t.Helper()
	access.MadeWith = sha256.Sum256([]byte(key))
	token, _, err := f.store.AddConsoleLink(f.t.Context(), f.of("checkout"), access)
	if err != nil {
		f.t.Fatal(err)
	}
	return token
}

func TestLinkOpensTheConsoleOnce(t *testing.T) {
	f := newFixture(t)
	link := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})
	b := f.browser()
	for range 3 { // programs that preview links
		got := b.get(checkout + "/link?token=" + link)
		if got.status != http.StatusOK || got.header.Get("Set-Cookie") != "" || strings.Count(got.text, `class="btn main"`) != 1 ||
			!strings.Contains(got.text, "look at everything, change nothing") {
			t.Fatalf("the page of the link: %d %s", got.status, got.text)
		}
	}
	if got := b.send(http.MethodPost, other+"/link", url.Values{"token": {link}}); got.status != http.StatusGone {
		t.Errorf("at another sandbox the link answered %d", got.status)
	}
	if got := b.send(http.MethodPost, checkout+"/link", url.Values{"token": {link}}); got.status != http.StatusSeeOther || !b.open(checkout) {
		t.Fatalf("the link answered %d: %s", got.status, got.text)
	}
	if got := f.browser().send(http.MethodPost, checkout+"/link", url.Values{"token": {link}}); got.status != http.StatusGone {
		t.Errorf("the second time the link answered %d", got.status)
	}
	old := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull})
	f.exec("update console_links set expires_at = now() where expires_at < now() + interval '5 minutes'")
	if got := f.browser().send(http.MethodPost, checkout+"/link", url.Values{"token": {old}}); got.status != http.StatusGone {
		t.Errorf("after five minutes the link answered %d", got.status)
	}
}

// mayCall has every route of the console that needs a session, with the roles that may call it. A new route needs a
// line here.
var mayCall = map[string]string{
	"POST /sign-out":                       "full viewer handset",
	"POST /appearance":                     "full viewer handset",
	"GET /ledger/{account}":                "full viewer",
	"GET /ledger/{account}/entries.csv":    "full viewer",
	"POST /ledger/verify":                  "full",
	"GET /webhooks/grade":                  "full viewer",
	"GET /webhooks/grade/report.xml":       "full viewer",
	"POST /webhooks/grade":                 "full",
	"GET /expectations":                    "full viewer",
	"POST /expectations":                   "full viewer",
	"GET /setup":                           "full viewer",
	"POST /setup/sessions":                 "full",
	"GET /reset":                           "full",
	"POST /reset":                          "full",
	"GET /requests":                        "full viewer",
	"GET /requests/{id}":                   "full viewer",
	"GET /stream":                          "full viewer handset",
	"GET /handsets/{msisdn}":               "full viewer handset",
	"POST /handsets/{msisdn}/link":         "full",
	"GET /handsets/new":                    "full",
	"POST /handsets/new":                   "full",
	"GET /handsets/{msisdn}/change":        "full",
	"POST /handsets/{msisdn}/change":       "full",
	"POST /handsets/{msisdn}/delete":       "full",
	"GET /overview":                        "full viewer",
	"GET /payments":                        "full viewer",
	"GET /handsets":                        "full viewer",
	"POST /handsets/{msisdn}/manual":       "full",
	"POST /handsets/{msisdn}/prompts/{tx}": "full handset",
	"GET /handsets/{msisdn}/scan":          "full handset",
	"POST /handsets/{msisdn}/scan":         "full handset",
	"POST /handsets/{msisdn}/scan/pay":     "full handset",
	"GET /ledger":                          "full viewer",
	"POST /keys":                           "full viewer",
	"GET /faults":                          "full viewer",
	"POST /faults":                         "full",
	"GET /stories":                         "full",
	"POST /stories":                        "full",
	"POST /handsets":                       "full",
	"GET /try":                             "full",
	"POST /try":                            "full",
	"GET /payments/{id}/refund":            "full",
	"POST /payments/{id}/refund":           "full",
	"GET /find":                            "full viewer",
	"POST /clock":                          "full",
	"GET /payments/{id}":                   "full viewer",
	"GET /webhooks":                        "full viewer",
	"GET /webhooks/{id}":                   "full viewer",
	"POST /webhooks/{id}":                  "full viewer",
	"POST /webhooks/{id}/resend":           "full",
}

// open are the routes that need no session.
var open = []string{"GET ", "GET /", "GET /sign-in", "POST /sign-in", "GET /link", "POST /link", "POST /language"}

func TestRolesMayCallTheirRoutesOnly(t *testing.T) {
	f := newFixture(t)
	for _, r := range console.Routes() {
		route := r.Method + " " + r.Path
		if r.Method == http.MethodGet { // HEAD is answered as GET
			get, head := f.browser().get(checkout+r.Path), f.browser().send(http.MethodHead, checkout+r.Path, nil)
			if head.status != get.status || head.header.Get("Location") != get.header.Get("Location") || head.text != "" {
				t.Errorf("HEAD %s answered %d %q, and GET %d", r.Path, head.status, head.text, get.status)
			}
		}
		if r.Roles == "" {
			if !slices.Contains(open, route) {
				t.Errorf("%s is open to everybody", route)
			}
			continue
		}
		allowed, listed := mayCall[route]
		if !listed || allowed != r.Roles {
			t.Errorf("%s may be called by %q: say in mayCall who may", route, r.Roles)
		}
		for _, role := range []sandboxes.ConsoleRole{sandboxes.ConsoleViewer, sandboxes.ConsoleHandset} {
			if strings.Contains(allowed, string(role)) {
				continue
			}
			path := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(r.Path, "x")
			access := sandboxes.ConsoleAccess{Role: role}
			if role == sandboxes.ConsoleHandset {
				access.MSISDN = "+250788000001"
			}
			b := f.browser()
			b.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(access)}})
			if got := b.send(r.Method, checkout+path, nil); got.status != http.StatusForbidden {
				t.Errorf("%s as %s answered %d", route, role, got.status)
			}
		}
	}
}

func TestFormsNeedTheTokenOfTheSession(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	token := tokenField.FindStringSubmatch(b.get(checkout + "/overview").text)[1]
	for name, form := range map[string]url.Values{"no token": {}, "a wrong token": {"token": {token[1:] + "x"}}} {
		if got := b.send(http.MethodPost, checkout+"/sign-out", form); got.status != http.StatusForbidden || !b.open(checkout) {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	foreign := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	older := func(r *http.Request) { // like a browser that does not send Sec-Fetch-Site
		r.Header.Del("Sec-Fetch-Site")
		r.Header.Set("Origin", "https://evil.example.com")
	}
	for path, form := range map[string]url.Values{
		"/sign-out": {"token": {token}}, "/sign-in": {"key": {key}}, "/link": {"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull})}},
	} {
		for _, from := range []func(*http.Request){foreign, older} {
			if got := b.send(http.MethodPost, checkout+path, form, from); got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" {
				t.Errorf("%s from another site: %d", path, got.status)
			}
		}
	}
	if got := b.send(http.MethodPost, checkout+"/sign-out", url.Values{"token": {token}}); got.status != http.StatusSeeOther || b.open(checkout) {
		t.Errorf("signing out: %d", got.status)
	}
}

func TestPagesAreGuardedByHeaders(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	for _, path := range []string{"/sign-in", "/overview", "/link?token=x"} {
		header := b.get(checkout + path).header
		policy := header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") ||
			header.Get("Referrer-Policy") != "no-referrer" || header.Get("Cache-Control") != "no-store" || header.Get("Vary") != "Accept-Language, Cookie, Accept-Encoding" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s has %v", path, header)
		}
		text := b.get(checkout + path).text
		for _, setting := range []string{`"includeIndicatorStyles":false`, `"allowEval":false`, `"historyCacheSize":0`} {
			if path == "/overview" && !strings.Contains(html.UnescapeString(text), setting) {
				t.Errorf("%s does not set %s of htmx", path, setting)
			}
		}
		for _, inline := range []string{"style=", "<style", "onclick=", "javascript:", "http://", "https://"} {
			if strings.Contains(text, inline) {
				t.Errorf("%s has %s", path, inline)
			}
		}
	}
}

// A session ends with the key that made it, and with its sandbox. A reset does not end it.
func TestSessionsEnd(t *testing.T) {
	f := newFixture(t)
	b, byLink := f.signedIn(checkout, key), f.browser()
	byLink.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	unused := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})
	beside := f.signedIn(other, otherKey)
	before := f.of("checkout").Tenant
	if err := f.store.ResetByAPI(t.Context(), before); err != nil || f.of("checkout").Tenant == before {
		t.Fatal(err)
	}
	if !b.open(checkout) || !byLink.open(checkout) {
		t.Error("a reset ended a session")
	}
	f.apply(f.config, key+"2")
	if b.open(checkout) || byLink.open(checkout) {
		t.Error("a session outlives its key")
	}
	if got := f.browser().send(http.MethodPost, checkout+"/link", url.Values{"token": {unused}}); got.status != http.StatusGone {
		t.Errorf("a link outlives its key: %d", got.status)
	}
	if !beside.open(other) {
		t.Error("the session of another sandbox ended")
	}
	if err := f.store.DeleteSandbox(t.Context(), "22222222-2222-2222-2222-222222222222"); err != nil {
		t.Fatal(err)
	}
	if beside.open(other) {
		t.Error("a session outlives its sandbox")
	}
	expired := f.signedIn(checkout, key+"2")
	f.exec("update console_sessions set expires_at = now()")
	if expired.open(checkout) {
		t.Error("a session lasts longer than 8 hours")
	}
	if err := f.store.RemoveOldUsage(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.exec("do $$ begin if exists (select from console_sessions) then raise 'ended sessions stay'; end if; end $$")
}

func TestSessionsAreBounded(t *testing.T) {
	f := newFixture(t)
	first := f.signedIn(checkout, key)
	sandbox, access := f.of("checkout"), sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull, MadeWith: sha256.Sum256([]byte(key))}
	for i := range sandboxes.MaxConsoleSessions {
		if _, _, err := f.store.AddConsoleSession(t.Context(), sandbox, access); err != nil {
			t.Fatal(err)
		}
		if i <= sandboxes.MaxConsoleLinks {
			if _, _, err := f.store.AddConsoleLink(t.Context(), sandbox, access); err != nil {
				t.Fatal(err)
			}
		}
	}
	open, err := f.store.ListConsoleSessions(t.Context(), sandbox)
	if err != nil || len(open) != sandboxes.MaxConsoleSessions || first.open(checkout) {
		t.Errorf("%d sessions, %v, want %d without the first", len(open), err, sandboxes.MaxConsoleSessions)
	}
	f.exec(fmt.Sprintf("do $$ begin if (select count(*) from console_links) <> %d then raise 'links'; end if; end $$", sandboxes.MaxConsoleLinks))
	if err := f.store.EndConsoleSessions(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	if open, err := f.store.ListConsoleSessions(t.Context(), sandbox); err != nil || len(open) != 0 {
		t.Errorf("%d sessions, %v", len(open), err)
	}
}

// The request log has what a person changes: who, what, when. It has no tokens or keys.
func TestRequestLogHasChanges(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	b.get(checkout + "/overview")
	b.post(checkout, "/clock", url.Values{"by": {"1h"}, "note": {key}})
	b.send(http.MethodPost, checkout+"/sign-out", nil)
	f.browser().send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {"cauri_sk_test_wrong"}})
	if err := f.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := f.log.List(t.Context(), f.of("checkout").Tenant, requests.Filter{Succeeded: true}, nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		actor := e.Actor
		if strings.HasPrefix(actor, "console session cs_") && strings.HasSuffix(actor, ", full") {
			actor = "session"
		}
		got = append(got, fmt.Sprintf("%s %s %s %d %s", e.Kind, e.Method, e.Path, e.Status, actor))
		if e.RequestBody != nil || e.ResponseBody != nil || e.Query != nil || e.NotKept != nil {
			t.Errorf("%s %s keeps more than who, what and when: %+v", e.Method, e.Path, e)
		}
	}
	want := []string{
		"unauthenticated POST /console/sign-in 401 ", "failed POST /console/sign-out 403 session", "succeeded POST /console/clock 303 session",
		"succeeded POST /console/sign-in 303 session",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the request log (-want +got):\n%s", diff)
	}
}

// readStream opens a stream. It returns the lines of the stream, and a channel that gets a value when the stream ends.
func (b *browser) readStream(ctx context.Context, path string) (<-chan string, <-chan time.Time) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	got, err := b.client.Do(r)
	if err != nil || got.StatusCode != http.StatusOK {
		b.t.Fatalf("the stream answered %v, %v", got, err)
	}
	lines, ended := make(chan string, 1000), make(chan time.Time, 1)
	go func() {
		defer got.Body.Close()
		for scanner := bufio.NewScanner(got.Body); scanner.Scan(); {
			lines <- scanner.Text()
		}
		ended <- time.Now()
	}()
	return lines, ended
}

func TestStreamTellsThatSomethingChanged(t *testing.T) {
	f := newFixture(t)
	lines, _ := f.signedIn(checkout, key).readStream(t.Context(), checkout+"/stream")
	until := func(want string) {
		t.Helper()
		for {
			select {
			case line := <-lines:
				if line == want {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("the stream did not say %q", want)
			}
		}
	}
	until("data: ready")
	books := ledger.New(f.store.DB, f.store.Registry)
	if _, err := books.Advance(t.Context(), f.of("checkout").Tenant, clocks.AdvanceTarget{By: new(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	until("event: change")
	until("data: clock")
}

func TestStreamEndsWithItsSession(t *testing.T) {
	f := newFixture(t)
	following, stop := context.WithCancel(t.Context())
	defer stop()
	go f.sandbox.Run(following, 50*time.Millisecond)               // as in the api
	if console.WatchInterval+250*time.Millisecond >= time.Second { // the api looks at keys every 250 ms
		t.Error("streams may end later than a second after their session")
	}
	for _, c := range []struct {
		name string
		end  func(b *browser)
	}{
		{"signing out", func(b *browser) { b.post(checkout, "/sign-out", nil) }},
		{"the API", func(*browser) {
			if err := f.store.EndConsoleSessions(t.Context(), f.of("checkout")); err != nil {
				t.Error(err)
			}
		}},
		{"its time", func(*browser) {
			f.exec("update console_sessions set expires_at = now() where org_id = $1", f.of("checkout").OrganizationID)
		}},
		{"another key", func(*browser) { f.apply(f.config, key+"2") }},
		{"no sandbox", func(*browser) {
			if err := f.store.DeleteSandbox(t.Context(), f.config.UID); err != nil {
				t.Error(err)
			}
		}},
	} {
		present := key
		if c.name == "no sandbox" {
			present = key + "2"
		}
		b := f.signedIn(checkout, present)
		_, ended := b.readStream(t.Context(), checkout+"/stream")
		_, stays := f.signedIn(other, otherKey).readStream(t.Context(), other+"/stream")
		c.end(b)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Errorf("%s: the stream does not end", c.name)
		}
		select {
		case <-stays:
			t.Errorf("%s: the stream of another session ended", c.name)
		default:
		}
	}
}

// A session has a maximum number of streams. Further pages say so, and are complete without a stream.
func TestStreamsOfPagesAreBounded(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	opened, closeAll := context.WithCancel(t.Context())
	defer closeAll()
	for range 16 {
		b.readStream(opened, checkout+"/stream")
	}
	if got := b.get(checkout + "/stream"); got.status != http.StatusTooManyRequests || !strings.Contains(got.text, "Too many pages are live") {
		t.Errorf("one more stream answered %d: %s", got.status, got.text)
	}
	if !b.open(checkout) {
		t.Error("a page cannot be opened")
	}
}

// The cookie of a session is no API key: it opens neither the API nor a new link.
func TestSessionOpensNoAPI(t *testing.T) {
	f := newFixture(t)
	in := f.browser().send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {key}})
	cookie, err := http.ParseSetCookie(in.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	for route, change := range map[string]func(*http.Request){
		"GET /v1/payments":         func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value}) },
		"POST /v1/console_links":   func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value}) },
		"POST /v1/payments":        func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cookie.Value) },
		"GET /v1/console_sessions": func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cookie.Value) },
		"DELETE /v1/console_sessions": func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull}))
		},
	} {
		method, path, _ := strings.Cut(route, " ")
		if got := f.browser().send(method, "/sandboxes/team/checkout"+path, nil, change); got.status != http.StatusUnauthorized {
			t.Errorf("%s with a session answered %d", route, got.status)
		}
	}
	f.exec(`do $$ begin if exists (select from console_sessions s where s::text like '%' || '` + cookie.Value[len("cauri_cs_"):] + `' || '%') then
		raise 'the database has the token of a session'; end if; end $$`)
}

// Every route of the console is in the table with the roles. The files and the page for wrong addresses are not,
// because they are the same for everybody.
func TestEveryRouteIsOnAList(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{"GET /assets/{file}": true, "GET /*": true}
	for _, r := range console.Routes() {
		listed[r.Method+" "+r.Path] = true
	}
	const below = "/sandboxes/{namespace}/{name}/console"
	served := fronts.New(frontstest.Options(ledgertest.Open(t, ledgertest.URL(t)))).Routes()
	err := chi.Walk(served, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path, isConsole := strings.CutPrefix(route, below)
		if isConsole && (path == "" || path[0] == '/') && !listed[method+" "+path] {
			t.Errorf("%s %s is on no list", method, route)
		}
		if !isConsole && strings.Contains(route, "console") && !strings.Contains(route, "/v1/console_") {
			t.Errorf("%s %s is not below %s", method, route, below)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What Postgres refuses as a text names nothing, in a path and in a form.
func TestPathsAndFormsThatAreNoText(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	parameter := regexp.MustCompile(`\{[a-z]+\}`)
	token := tokenField.FindStringSubmatch(b.get(checkout + "/overview").text)[1]
	for _, r := range console.Routes() {
		if slices.Contains([]string{"/sign-out", "/stream", "/ledger/verify"}, r.Path) { // the last one waits for a worker
			continue
		}
		for _, part := range []string{"%00", "%ff", "a%00b"} {
			path := parameter.ReplaceAllString(r.Path, part)
			if got := b.send(r.Method, checkout+path, url.Values{"token": {token}, "session": {"a\x00b\xff"}, "msisdn": {"\x00"}, "order": {"\xff"}}); got.status >= 500 {
				t.Errorf("%s %s answered %d", r.Method, path, got.status)
			}
		}
	}
	for _, path := range []string{"/overview", "/handsets", "/payments", "/webhooks", "/requests", "/ledger", "/expectations", "/try", "/faults", "/stories", "/setup", "/find"} {
		const each = "?q=%00&order=a%00&number=%ff&error=%00&path=%ff&status=%00&cursor=%ff&after=%00&store=%ff&reference=%00&state=%ff&of=%00&since=%ff"
		if got := b.get(checkout + path + each); got.status >= 500 {
			t.Errorf("%s answered %d", path+each, got.status)
		}
	}
	if got := b.get("/sandboxes/%00/%ff/console/sign-in"); got.status >= 500 {
		t.Errorf("a sandbox that is no text is answered %d", got.status)
	}
	b.post(checkout, "/setup/sessions", url.Values{"session": {"a\x00b\xff"}}).has(t, "This session has ended already")
}

// Neither the log of the process nor the request log has tokens or keys.
func TestTokensReachNoLog(t *testing.T) {
	var log syncBuffer
	f := newFixture(t, func(o *fronts.Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	link := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull})
	b := f.browser()
	b.get(checkout + "/link?token=" + link)
	b.send(http.MethodPost, checkout+"/link?token="+link, url.Values{"token": {link}})
	b.send(http.MethodPost, checkout+"/link", url.Values{"token": {link}})
	in := f.browser().send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {key}})
	cookie, err := http.ParseSetCookie(in.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	f.browser().send(http.MethodPost, checkout+"/sign-in?key="+key, url.Values{"key": {key + "wrong"}})
	b.get(checkout + "/" + cookie.Value)
	b.get("/v1/payments/" + cookie.Value)
	refused := func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		r.Body = io.NopCloser(strings.NewReader(`{"reference":"r ` + cookie.Value + `","description":"` + link + `"}`))
		r.ContentLength = -1
	}
	b.send(http.MethodPost, "/v1/payments", nil, refused)
	f.exec("alter table console_sessions rename to hidden") // a failure that is logged
	if got := b.get(checkout + "/overview"); got.status < 500 {
		t.Errorf("without its table the console answered %d", got.status)
	}
	f.exec("alter table hidden rename to console_sessions")
	if err := f.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := f.log.List(t.Context(), f.of("checkout").Tenant, requests.Filter{Succeeded: true}, nil, 100)
	if err != nil || len(entries) < 4 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	kept, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "request failed") {
		t.Errorf("nothing is in the log: %s", log.String())
	}
	for _, secret := range []string{key, link, cookie.Value} {
		secret = secret[len(secret)-16:]
		if strings.Contains(log.String(), secret) || strings.Contains(string(kept), secret) {
			t.Errorf("%s is in a log:\n%s\n%s", secret, log.String(), kept)
		}
	}
}

// syncBuffer is a buffer that is safe for concurrent use.
type syncBuffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *syncBuffer) Write(text []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(text)
}

func (b *syncBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

func TestSignInsAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	f := newFixture(t, func(o *fronts.Options) { o.Metrics = telemetry.NewAPI(registry) })
	f.signedIn(checkout, key)
	link := f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleFull})
	for range 2 {
		f.browser().send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {"wrong"}})
		f.browser().send(http.MethodPost, checkout+"/link", url.Values{"token": {link}})
	}
	f.browser().send(http.MethodPost, "/sandboxes/team/nowhere/console/link", url.Values{"token": {link}})
	want := `# HELP cauri_api_console_sign_ins_total Tries to sign in to the console, by API key or by link, accepted or refused.
# TYPE cauri_api_console_sign_ins_total counter
cauri_api_console_sign_ins_total{by="key",result="accepted"} 1
cauri_api_console_sign_ins_total{by="key",result="refused"} 2
cauri_api_console_sign_ins_total{by="link",result="accepted"} 1
cauri_api_console_sign_ins_total{by="link",result="refused"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "cauri_api_console_sign_ins_total"); err != nil {
		t.Error(err)
	}
}

func TestConsoleCanBeSwitchedOff(t *testing.T) {
	f := newFixture(t, func(o *fronts.Options) { o.Console = false })
	if got := f.browser().get(checkout + "/sign-in"); got.status != http.StatusNotFound {
		t.Errorf("the console answered %d", got.status)
	}
}

// A page has each element that htmx replaces, and has each id only once.
func TestLivePartsArePartsOfTheirPage(t *testing.T) {
	f := newFixture(t)
	path, _, _ := f.refused(time.Now())
	tx := "TX_" + strings.TrimPrefix(path, "/webhooks/evt_")
	b := f.signedIn(checkout, key)
	for _, path := range []string{"/overview", "/handsets", "/payments", "/payments/" + tx, "/webhooks", path, "/requests", "/ledger", "/ledger/RWF", "/faults"} {
		text := b.get(checkout + path).text
		count := map[string]int{}
		for _, found := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			count[found[1]]++
		}
		live := regexp.MustCompile(`hx-select-oob="([^"]*)"`).FindStringSubmatch(text)
		if live == nil {
			t.Errorf("%s is not live", path)
			continue
		}
		for id := range strings.SplitSeq(live[1], ",") {
			if count[strings.TrimPrefix(id, "#")] == 0 {
				t.Errorf("%s has no %s", path, id)
			}
		}
		for id, n := range count {
			if n > 1 {
				t.Errorf("%s has the id %s %d times", path, id, n)
			}
		}
	}
}

// Pages are compressed only for clients that accept it.
func TestPagesAreCompressed(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	for accepted, want := range map[string]string{"gzip, deflate, br": "gzip", "identity": ""} {
		got := b.send(http.MethodGet, checkout+"/overview", nil, func(r *http.Request) { r.Header.Set("Accept-Encoding", accepted) })
		text := io.Reader(strings.NewReader(got.text))
		if want != "" {
			var err error
			if text, err = gzip.NewReader(text); err != nil {
				t.Fatal(err)
			}
		}
		page, err := io.ReadAll(text)
		if err != nil || got.header.Get("Content-Encoding") != want || !strings.HasSuffix(string(page), "</html>") {
			t.Errorf("with %q: %s, %d bytes, %v", accepted, got.header, len(page), err)
		}
	}
}
