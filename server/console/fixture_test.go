package console_test

import (
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	key      = "cauri_sk_test_checkout"
	otherKey = "cauri_sk_test_other"
	checkout = "/sandboxes/team/checkout/console"
	other    = "/sandboxes/team/other/console"
)

// fixture is a server with a database that has the sandboxes team/checkout and team/other.
type fixture struct {
	t       *testing.T
	store   *ledgertest.Store
	sandbox *sandboxes.Directory
	url     string // of the server
	db      string // of the database
	config  sandboxes.Config
	log     *requests.Log
}

func newFixture(t *testing.T, change ...func(*fronts.Options)) *fixture {
	t.Helper()
	t.Parallel()
	db := ledgertest.URL(t)
	f := &fixture{t: t, store: ledgertest.Open(t, db), db: db}
	f.config = sandboxes.Config{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "team", Name: "checkout", Stores: []string{"shop"},
		Environments: []sandboxes.EnvironmentConfig{{
			Operator: payments.MTN, Country: "RW", Enabled: true, UnknownPolicy: payments.Reject,
			Terms: payments.Terms{CommissionBPS: 150, AbsorptionPct: 100},
		}},
		OpeningFloat: map[payments.Currency]int64{payments.RWF: 100_000},
		API:          sandboxes.APIAccess{Reset: true, TestClients: true, Faults: true},
	}
	f.apply(f.config, key)
	second := f.config
	second.UID, second.Name = "22222222-2222-2222-2222-222222222222", "other"
	f.apply(second, otherKey)

	asAPI := ledgertest.OpenAs(t, db, ledgertest.API)
	f.log = requests.New(asAPI.DB, requests.Options{})
	o := frontstest.Options(asAPI)
	o.Requests = f.log
	for _, each := range change {
		each(&o)
	}
	f.sandbox = o.Directory
	server := httptest.NewServer(fronts.New(o))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *fixture) apply(config sandboxes.Config, key string) {
	f.t.Helper()
	if _, err := f.store.ApplySandbox(f.t.Context(), config); err != nil {
		f.t.Fatal(err)
	}
	c := sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(key)), SigningSecret: "whsec_dGVzdA==", Native: nativeDigests(key)}
	if err := f.store.ApplyCredentials(f.t.Context(), config.UID, c); err != nil {
		f.t.Fatal(err)
	}
}

// exec runs a statement without a tenant scope.
func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	if _, err := ledgertest.Connect(f.t, f.db).Exec(f.t.Context(), sql, args...); err != nil {
		f.t.Fatal(err)
	}
}

// browser keeps cookies, and follows no redirect.
type browser struct {
	*fixture
	client *http.Client
}

func (f *fixture) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{f, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// answer is the answer that a browser received.
type answer struct {
	status int
	header http.Header
	text   string
}

// send makes a request, after the functions change have changed it.
func (b *browser) send(method, path string, form url.Values, change ...func(*http.Request)) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, each := range change {
		each(r)
	}
	got, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

func (b *browser) get(path string) answer { b.t.Helper(); return b.send(http.MethodGet, path, nil) }

// has checks that the visible text of a page contains texts.
func (a answer) has(t *testing.T, texts ...string) {
	t.Helper()
	page := words(a.text)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page has no %q: %s", text, page)
		}
	}
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)

// post sends a form, with the form token of the session.
func (b *browser) post(console, path string, form url.Values) answer {
	b.t.Helper()
	if form == nil {
		form = url.Values{}
	}
	if found := tokenField.FindStringSubmatch(b.get(console + "/overview").text); found != nil {
		form.Set("token", found[1])
	}
	return b.send(http.MethodPost, console+path, form)
}

// signedIn returns a browser that is signed in to a console with the API key.
func (f *fixture) signedIn(console, key string) *browser {
	f.t.Helper()
	b := f.browser()
	if got := b.send(http.MethodPost, console+"/sign-in", url.Values{"key": {key}}); got.status != http.StatusSeeOther {
		f.t.Fatalf("signing in answered %d: %s", got.status, got.text)
	}
	return b
}

// open reports whether the browser has a session of the console.
func (b *browser) open(console string) bool {
	b.t.Helper()
	got := b.get(console + "/overview")
	if got.status != http.StatusOK && (got.status != http.StatusSeeOther || got.header.Get("Location") != "sign-in") {
		b.t.Fatalf("%s answered %d", console, got.status)
	}
	return got.status == http.StatusOK
}

func (f *fixture) of(named string) *sandboxes.Sandbox {
	f.t.Helper()
	if err := f.sandbox.Refresh(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	sandbox, ok := f.sandbox.ByName("team", named)
	if !ok {
		f.t.Fatalf("there is no sandbox %s", named)
	}
	return sandbox
}
