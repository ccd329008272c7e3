package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// behindProxy is a server of the fixture whose way to the database the test can break.
func (f *fixture) behindProxy(options ledgertest.Options) (*ledgertest.Proxy, *fixture) {
	f.t.Helper()
	proxy, through := ledgertest.NewProxy(f.t, ledgertest.WholeStatements(ledgertest.URLAs(f.t, f.db, ledgertest.API)))
	s, err := ledgertest.OpenWith(through, options)
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
	return proxy, server
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
