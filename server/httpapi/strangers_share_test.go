package httpapi_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/httpserver"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// strangersHeaders are what somebody may send who knows the name and the identifiers of a sandbox, and no secret: of each
// kind of credential one of the right form.
func strangersHeaders(sandbox *sandboxes.Sandbox) (all []http.Header) {
	secret := strings.Repeat("0123456789abcdef", 4)
	all = []http.Header{
		{},
		{"Authorization": {"Bearer cauri_sk_test_guess"}},
		{"Ocp-Apim-Subscription-Key": {secret[:32]}, "Authorization": {"Bearer " + secret}},
		{"Cookie": {"cauri_console_" + sandbox.OrganizationID + "=cauri_cs_" + secret[:43]}},
	}
	for _, operator := range []payments.Operator{payments.Orange, payments.Airtel} { // whose client ids are in their tokens
		id := operators.NativeAPI(operator).Derive(key).User
		basic := base64.StdEncoding.EncodeToString([]byte(id + ":" + secret[:32]))
		all = append(all, http.Header{"Authorization": {"Bearer " + id + secret[:32]}}, http.Header{"Authorization": {"Basic " + basic}})
	}
	return all
}

// useUp takes all of a sandbox's share of a database's connections and the lock of its console, until the test ends.
func useUp(t *testing.T, db *ledgertest.Store, url string, tenant int64) {
	t.Helper()
	ended, end := context.WithCancel(t.Context())
	end()
	for db.DB.Admission().Acquire(ended, tenant) == nil { // which takes what is free, and waits for nothing
		t.Cleanup(func() { db.DB.Admission().Release(tenant) })
	}
	conn := ledgertest.Connect(t, url)
	if _, err := conn.Exec(t.Context(), "select pg_advisory_lock(hashtextextended('console', $1::bigint))", tenant); err != nil {
		t.Fatal(err)
	}
}

// Whatever a stranger sends is answered while the sandbox that he names has no connection left, since it needs none of
// them. It is not counted to the sandbox's rate limit either.
func TestStrangersTakeNothingOfTheSandbox(t *testing.T) {
	f := newFixture(t)
	f.config.RateLimit = new(int32(1_000_000))
	f.config.Environments[1].Enabled = true
	f.sandbox(f.config, key)
	asAPI := ledgertest.OpenAs(t, f.db, ledgertest.API)
	o := frontstest.Options(asAPI)
	o.Requests, o.PINKey, o.CredentialKey = f.log, pinKey, credentialKey
	server := fronts.New(o)
	at := listen(t, server, httpserver.Default)
	if err := o.Directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	sandbox, _ := o.Directory.ByName("team", "checkout")
	useUp(t, asAPI, f.db, sandbox.Tenant)
	fields := strings.NewReplacer("{namespace}", "team", "{name}", "checkout", "{token}", strings.Repeat("0123456789abcdef", 4),
		"{msisdn}", url.PathEscape(alice), "{file}", "none", "{answer}", "approve")
	link := sandboxes.NewConsoleLinkToken(sandboxes.ConsoleFull)
	walk := func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !strings.HasPrefix(pattern, "/sandboxes/") || method == "QUERY" {
			return nil
		}
		for _, header := range strangersHeaders(sandbox) {
			form := url.Values{"token": {link}, "key": {"cauri_sk_test_guess"}, "client_id": {operators.NativeAPI(payments.Airtel).Derive(key).User},
				"client_secret": {"wrong"}, "grant_type": {"client_credentials"}}
			r, err := http.NewRequestWithContext(t.Context(), method, at+fields.Replace(pattern), strings.NewReader(form.Encode()))
			if err != nil {
				return err
			}
			r.Header = header.Clone()
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				return err
			}
			text, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusServiceUnavailable {
				t.Fatalf("%s %s with %v needs something of the sandbox: %d %s", method, pattern, header, answer.StatusCode, text[:min(len(text), 300)])
			}
		}
		return nil
	}
	if err := chi.Walk(server.Routes(), walk); err != nil {
		t.Fatal(err)
	}
	var counted int
	if err := ledgertest.Connect(t, f.db).QueryRow(t.Context(), "select count(*) from rate_usage").Scan(&counted); err != nil || counted > 0 {
		t.Errorf("%d rows of the rate limit, %v", counted, err)
	}
}

// A payer who loads the page of an order again and again is refused after a while, and takes nothing of the merchant's rate
// limit. The pages of other orders are there.
func TestPayersHaveTheirOwnLimit(t *testing.T) {
	f, o := withOrange(t, payments.Approve)
	p, another := o.place("o-1"), o.place("o-2")
	f.config.RateLimit = new(int32(50))
	f.sandbox(f.config, key)
	f.call("GET", "/v1/payments", nil, withKey("wrong")) // the server looks for it in the database, and reads the limit
	last := shown{}
	for n := 0; last.status != http.StatusTooManyRequests; n++ {
		if last = p.open(); n > 1000 {
			t.Fatalf("a thousand pages are answered, the last %d", last.status)
		}
	}
	last.is(t, http.StatusTooManyRequests, "Trop de requêtes")
	if last.header.Get("Retry-After") != "1" {
		t.Errorf("the headers are %v", last.header)
	}
	if got := f.call("GET", "/v1/payments", nil); got.number("X-RateLimit-Remaining") != 49 {
		t.Errorf("the merchant has %d requests left, want 49", got.number("X-RateLimit-Remaining"))
	}
	another.open().is(t, http.StatusOK, "Confirmer le paiement")
	for range 45 {
		f.call("GET", "/v1/payments", nil)
	}
	for range 5 {
		another.open().is(t, http.StatusOK, "Confirmer le paiement")
	}
}
