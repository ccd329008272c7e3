package httpapi_test

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// behindProxy is a server of the fixture whose way to the database the test can break.
func (f *fixture) behindProxy(options ledgertest.Options) (*ledgertest.Proxy, *fixture) {
	f.t.Helper()
	proxy, through := ledgertest.NewProxy(f.t, ledgertest.WholeStatements(ledgertest.URLAs(f.t, f.db, ledgertest.API)))
	return proxy, f.servedBy(through, options)
}

// servedBy is a server of the fixture with another URL of the database.
func (f *fixture) servedBy(database string, options ledgertest.Options) *fixture {
	f.t.Helper()
	s, err := ledgertest.OpenWith(database, options)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(s.Close)
	server := f.serve(func(o *fronts.Options) {
		o.Ledger, o.Sandboxes, o.Directory = s.Ledger, s.Registry, sandboxes.NewDirectory(s.DB)
	})
	if got := server.call("GET", "/v1/payments", nil); got.status != http.StatusOK {
		f.t.Fatalf("answered %d: %s", got.status, got.raw)
	}
	return server
}

// The answer of the database is lost after it has committed. The client is told that nobody knows, and the reference with which it
// learns what became of its request: repeating it so books nothing twice, also where it had sent none.
func TestLostAnswerOfTheDatabase(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	paid := f.call("POST", "/v1/payments", payment("paid", object{"scenario": "success", "operator": "mtn", "country": "RW"}))
	if paid.status != http.StatusCreated {
		t.Fatalf("answered %d: %s", paid.status, paid.raw)
	}
	refund := "/v1/payments/" + paid.body["id"].(string) + "/refund"
	proxy, server := f.behindProxy(ledgertest.Options{Options: postgres.Options{MaxConns: 1}})
	withoutReference := object{"reference": nil, "amount": 10}
	for name, c := range map[string]struct {
		path      string
		body      object
		reference string
	}{
		"payment":                  {"/v1/payments", payment("given", object{"scenario": "success", "operator": "mtn", "country": "RW"}), "given"},
		"pending payment":          {"/v1/payments", payment("waits", object{"operator": "mtn", "country": "RW"}), "waits"},
		"disbursement":             {"/v1/disbursements", disbursement("payout", object{"amount": 10}), "payout"},
		"disbursement without one": {"/v1/disbursements", disbursement("", withoutReference), ""},
		"refund":                   {refund, object{"amount": 10, "reference": "refund"}, "refund"},
		"refund without one":       {refund, object{"amount": 10}, ""},
	} {
		before := f.transactions()
		proxy.CutAnswer("insert into transactions")
		lost := server.call("POST", c.path, c.body)
		detail, _ := lost.body["detail"].(object)
		reference, _ := detail["reference"].(string)
		message, _ := lost.body["message"].(string)
		if lost.status != http.StatusServiceUnavailable || lost.body["error"] != "unavailable" || lost.header.Get("Retry-After") == "" ||
			!strings.Contains(message, "not known whether") {
			t.Errorf("%s: answered %d: %s", name, lost.status, lost.raw)
			continue
		}
		if c.reference != "" && reference != c.reference || reference == "" {
			t.Errorf("%s: the reference to repeat it with is %q", name, reference)
		}
		if n := f.transactions() - before; n != 1 {
			t.Errorf("%s: %d were recorded before the answer was lost, want 1", name, n)
		}
		again := object{"reference": reference}
		for field, value := range c.body {
			if field != "reference" {
				again[field] = value
			}
		}
		got := server.call("POST", c.path, again)
		if got.status != http.StatusOK || got.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: the repeat was answered %d: %s", name, got.status, got.raw)
		}
		if n := f.transactions() - before; n != 1 {
			t.Errorf("%s: %d are recorded after the repeat, want 1", name, n)
		}
	}
	f.conserved()
}

// A database that cannot be reached has recorded nothing, and the answer says so.
func TestDatabaseThatCannotBeReachedRecordedNothing(t *testing.T) {
	f := newFixture(t)
	proxy, server := f.behindProxy(ledgertest.Options{Options: postgres.Options{MaxConns: 1}})
	proxy.Refuse()
	for _, body := range []object{disbursement("payout", object{"amount": 10}), disbursement("", object{"reference": nil, "amount": 10})} {
		var got response
		soon(t, "the connection that was there is found to be gone", func() bool {
			got = server.call("POST", "/v1/disbursements", body)
			return !strings.Contains(got.raw, "not known")
		})
		message, _ := got.body["message"].(string)
		if got.status != http.StatusServiceUnavailable || !strings.Contains(message, "recorded nothing") || got.body["detail"] != nil {
			t.Errorf("answered %d: %s", got.status, got.raw)
		}
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d are recorded", n)
	}
}

// The password of the api's user is changed while the api runs, or the user may not log in any more: each API says that it is
// unavailable, and that nothing was recorded.
func TestLoginRefusedWhileTheAPIRuns(t *testing.T) {
	f := newFixture(t)
	user := "refused_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	sql := ledgertest.Connect(t, f.db)
	run := func(statement string) {
		t.Helper()
		if _, err := sql.Exec(context.WithoutCancel(t.Context()), strings.ReplaceAll(statement, "USER", user)); err != nil {
			t.Fatal(err)
		}
	}
	run("create role USER login password 'first' in role " + ledgertest.API)
	t.Cleanup(func() { run("drop role USER") })
	at, err := url.Parse(f.db)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(user, "first")
	server := f.servedBy(at.String(), ledgertest.Options{})
	m := server.mtn(key)
	m.call("GET", "/collection/v1_0/account/balance", "").is(t, http.StatusOK, `{"availableBalance":"1000","currency":"RWF"}`)

	for _, refusal := range []string{"alter role USER password 'rotated'", "alter role USER nologin"} {
		run(refusal)
		run("select pg_terminate_backend(pid, 60000) from pg_stat_activity where usename = 'USER'")
		for what, got := range map[string]response{
			"payment":      server.call("POST", "/v1/payments", payment("refused")),
			"disbursement": server.call("POST", "/v1/disbursements", disbursement("refused", object{"amount": 10})),
			"list":         server.call("GET", "/v1/payments", nil),
			"health":       server.call("GET", "/v1/health", nil),
		} {
			code, _ := cmp.Or(got.body["error"], got.body["status"]).(string)
			if got.status != http.StatusServiceUnavailable || code != "unavailable" {
				t.Errorf("%s, %s: answered %d: %s", refusal, what, got.status, got.raw)
			}
		}
		m.call("GET", "/collection/v1_0/account/balance", "").is(t, http.StatusServiceUnavailable, mtnUnavailable)
		m.call("POST", "/collection/v1_0/requesttopay", payBody(alice, "100", "RWF"), "X-Reference-Id", newReference()).
			is(t, http.StatusServiceUnavailable, mtnUnavailable)
	}
	if n := f.transactions(); n != 0 {
		t.Errorf("%d are recorded", n)
	}
}
