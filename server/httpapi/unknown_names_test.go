package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// lists are the paths of all lists, without their parameters.
func lists(f *fixture) (paths []string) {
	for _, o := range apidoc.Operations {
		if strings.HasPrefix(o.ID, "list") {
			paths = append(paths, strings.Replace(o.Path, "{msisdn}", strings.Replace(alice, "+", "%2B", 1), 1))
		}
	}
	if len(paths) < 9 {
		f.t.Fatalf("the lists are %v", paths)
	}
	return paths
}

// A list without a filter looks as if everything matched: so what was probably meant as a filter is refused, in every list.
func TestMisspelledParametersOfLists(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	for _, path := range lists(f) {
		ignored := f.call("GET", path+"?colour=blue&sort_by=size&%2C%0A=1&=x", nil)
		if got := ignored.header.Get("X-Cauri-Ignored"); ignored.status != http.StatusOK || got != "%2C%0A, colour, sort_by" {
			t.Errorf("%s with unknown parameters is answered %d, X-Cauri-Ignored: %q", path, ignored.status, got)
		}
		if plain := f.call("GET", path, nil); plain.header.Values("X-Cauri-Ignored") != nil {
			t.Errorf("%s without parameters ignores %q", path, plain.header.Values("X-Cauri-Ignored"))
		}
		var many strings.Builder
		for i := range 51 {
			fmt.Fprintf(&many, "&x%d", i)
		}
		if got := f.call("GET", path+"?"+many.String(), nil); got.status != 400 || !slices.Equal(got.wrongFields(), []string{"query"}) {
			t.Errorf("%s with 51 parameters is answered %d: %v", path, got.status, got.wrongFields())
		}
		refused := f.call("GET", path+"?data=1&colour=blue", nil)
		refused.is(t, 400, "invalid_params")
		if diff := cmp.Diff([]string{"data"}, refused.wrongFields()); diff != "" || refused.header.Get("X-Cauri-Ignored") != "colour" {
			t.Errorf("%s: wrong parameters (-want +got):\n%s", path, diff)
		}
	}
	for query, right := range map[string]string{
		"/v1/payments?orderRef=abc": "write order_ref", "/v1/payments?ORDER_REF=a": "write order_ref", "/v1/payments?order[]=a": "write order",
		"/v1/payments?createdAfter=2026-05-31T12:00:00Z": "write created_after", "/v1/payments?create_after=x": "write created_after",
		"/v1/payments?statut=SUCCESS": "write status", "/v1/payments?refrence=a": "write reference", "/v1/payments?Status=x": "write status",
		"/v1/payments?amount=5": "no filter: write one of application, before", "/v1/payments?net_amount=5": "no filter",
		"/v1/payments?nextCursor=x": "send it as cursor", "/v1/payments?previous_cursor=x": "send it as before",
		"/v1/events?txId=x": "write tx_id", "/v1/events?tx=x": "", "/v1/events?status=SUCCESS": "no filter", "/v1/requests?requestId=x": "no filter",
		"/v1/test_clients?msisdn=x": "no filter", "/v1/test_numbers?operator=mtn": "this list has no filters", "/v1/ledger?Verify=full": "write verify",
		"/v1/console_sessions?role=full": "this list has no filters", "/v1/ledger/entries?orderRef=a": "no filter", "/v1/stream?type=clock": "write one of types", "/v1/stream?typs=clock": "write types",
	} {
		got := f.call("GET", query, nil)
		if right == "" {
			if got.status != http.StatusOK {
				t.Errorf("%s is answered %d %s", query, got.status, got.raw)
			}
			continue
		}
		got.is(t, 400, "invalid_params")
		if !strings.Contains(got.raw, right) {
			t.Errorf("%s is refused with %s, want %q", query, got.raw, right)
		}
	}
}

// A body without the field that was meant does something else: so a known name in another spelling is refused in every body.
func TestMisspelledFieldsOfBodies(t *testing.T) {
	f := newFixture(t)
	f.paid("told")
	event := f.call("GET", "/v1/events", nil).each("id")[0]
	before := f.transactions()
	for _, o := range apidoc.Operations {
		if o.Body == nil {
			continue
		}
		path := strings.NewReplacer("{id}", event, "{msisdn}", "%2B250788000009").Replace(o.Path)
		for name := range o.Body.Properties {
			other := strings.ToUpper(name)
			got := f.call(o.Method, path, object{other: nil, "colour": "blue"})
			if got.status != http.StatusBadRequest || !slices.Contains(got.wrongFields(), other) || !strings.Contains(got.raw, "write "+name) {
				t.Errorf("%s with %s is answered %d %s", o.ID, other, got.status, got.raw)
			}
			if ignored := got.header.Get("X-Cauri-Ignored"); ignored != "colour" {
				t.Errorf("%s ignores %q", o.ID, ignored)
			}
		}
	}
	if n := f.transactions(); n != before {
		t.Errorf("%d transactions were recorded", n-before)
	}
	refused := f.call("POST", "/v1/payments", payment("r", object{"orderRef": "o-1", "scenario": "success"}))
	refused.is(t, 400, "invalid_body")
	if diff := cmp.Diff([]string{"orderRef"}, refused.wrongFields()); diff != "" || !strings.Contains(refused.raw, "write order_ref") {
		t.Errorf("wrong fields (-want +got):\n%s\n%s", diff, refused.raw)
	}
	sent := object{"scenario": "success", "id": "TX_1", "a\r\nSet-Cookie: b": 1, strings.Repeat("x", 5000): 1}
	for _, letter := range "abcdefghij" {
		sent["z"+string(letter)] = 1
	}
	paid := f.call("POST", "/v1/payments", payment("r", sent))
	paid.is(t, 201, "SUCCESS")
	const want = "a%0D%0ASet-Cookie:%20b, id, "
	if got := paid.header.Get("X-Cauri-Ignored"); !strings.HasPrefix(got, want+strings.Repeat("x", 40)+", za, ") || !strings.HasSuffix(got, ", zg, ...") {
		t.Errorf("X-Cauri-Ignored: %q", got)
	}
	if again := f.call("POST", "/v1/payments", payment("r", object{"scenario": "success"})); again.header.Values("X-Cauri-Ignored") != nil {
		t.Errorf("nothing is ignored, and named: %q", again.header)
	}
}
