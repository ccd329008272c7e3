package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// takenBy fails unless an answer names the transaction that has the reference, and what its request sent in the fields in
// which the two differ.
func (r response) takenBy(t *testing.T, what string, holder, recorded object) {
	t.Helper()
	r.is(t, http.StatusConflict, "duplicate_reference")
	detail, _ := r.body["detail"].(object)
	if diff := cmp.Diff(object{"transaction": holder, "recorded": recorded}, detail); diff != "" {
		t.Errorf("%s (-want +told):\n%s", what, diff)
	}
	message, _ := r.body["message"].(string)
	for name := range recorded {
		if _, known := map[string]bool{"type": true, "source": true}[name]; !known && !strings.Contains(message, name) {
			t.Errorf("%s: the message does not name %s: %s", what, name, message)
		}
	}
	if !strings.Contains(message, holder["id"].(string)) {
		t.Errorf("%s: the message does not name the transaction: %s", what, message)
	}
}

func holderOf(made response, kind string) object {
	id := made.body["id"]
	if id == nil {
		id = made.body["tx_id"]
	}
	return object{"id": id, "type": kind, "status": made.body["status"]}
}

// A conflict names each field that differs, as the recorded request sent it. One that it left out is null, also if the
// service filled it in.
func TestConflictNamesWhatDiffers(t *testing.T) {
	f := newFixture(t)
	all := object{"scenario": "success", "operator": "mtn", "country": "RW", "order_ref": "o-1", "order_url": "https://shop.example/1",
		"is_url_protected": true, "description": "Two <tickets>"}
	few := f.call("POST", "/v1/payments", payment("few"))
	whole := f.call("POST", "/v1/payments", payment("all", all))
	plain := f.call("POST", "/v1/payments", payment("explicit", object{"order_ref": "explicit", "is_url_protected": false}))
	less := maps.Clone(all)
	for _, left := range []string{"operator", "order_ref", "description", "is_url_protected"} {
		less[left] = nil
	}
	for what, c := range map[string]struct {
		made     response
		again    object
		recorded object
	}{
		"a timestamp in the description": {few, payment("few", object{"description": "at 10:31:07"}), object{"description": nil}},
		"another description":            {whole, payment("all", all, object{"description": ""}), object{"description": "Two <tickets>"}},
		"amount and number": {
			few, payment("few", object{"amount": 999, "msisdn": "+250788000009"}), object{"amount": 1000.0, "msisdn": alice},
		},
		"the market, which was detected": {few, payment("few", object{"operator": "mtn", "country": "RW"}), object{"operator": nil, "country": nil}},
		"the default of order_ref":       {few, payment("few", object{"order_ref": "few"}), object{"order_ref": nil}},
		"a default, and another amount":  {few, payment("few", object{"country": "RW", "amount": 5}), object{"country": nil, "amount": 1000.0}},
		"false, which is the default":    {few, payment("few", object{"is_url_protected": false}), object{"is_url_protected": nil}},
		"defaults that are left out":     {plain, payment("explicit"), object{"order_ref": "explicit", "is_url_protected": false}},
		"fields that are left out": {whole, payment("all", less), object{
			"operator": "mtn", "order_ref": "o-1", "description": "Two <tickets>", "is_url_protected": true,
		}},
		"a store that does not exist": {few, payment("few", object{"application": "kiosk"}), object{"application": "shop"}},
		"everything": {whole, payment("all", object{
			"amount": 7, "currency": "XOF", "msisdn": "+2290100000001", "scenario": "timeout", "operator": "moov", "country": "BJ",
			"order_ref": "o-2", "order_url": "https://shop.example/2", "is_url_protected": false, "description": "x", "application": "kiosk",
		}), object{
			"amount": 1000.0, "currency": "RWF", "msisdn": alice, "scenario": "success", "operator": "mtn", "country": "RW",
			"order_ref": "o-1", "order_url": "https://shop.example/1", "is_url_protected": true, "description": "Two <tickets>", "application": "shop",
		}},
	} {
		f.call("POST", "/v1/payments", c.again).takenBy(t, what, holderOf(c.made, "collection"), c.recorded)
	}
	f.call("POST", "/v1/payments", payment("all", all)).is(t, http.StatusOK, "SUCCESS")
	if n := f.transactions(); n != 3 {
		t.Errorf("%d transactions were recorded", n)
	}
}

// The same holds for payouts. Over another operation, the conflict names the operation, for fields differ anyhow.
func TestConflictOfPayoutsAndOperations(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	one, two := f.paid("p1"), f.paid("p2")
	part, rest := f.refund(one, object{"amount": 400, "reference": "f1"}), f.refund(two, object{"reference": "f2"})
	sent := f.disburse(disbursement("d1", object{"order_ref": "d1"}))
	paid := f.call("GET", "/v1/payments/"+one, nil)
	collection, refund, disbursed := holderOf(paid, "collection"), holderOf(part, "refund"), holderOf(sent, "disbursement")

	f.refund(one, object{"amount": 401, "reference": "f1"}).takenBy(t, "another amount", refund, object{"amount": 400.0})
	f.refund(one, object{"reference": "f1"}).takenBy(t, "the amount is left out", refund, object{"amount": 400.0})
	f.refund(two, object{"amount": 400, "reference": "f1", "description": "x"}).takenBy(t, "another payment", refund,
		object{"parentTxId": one, "description": nil})
	f.refund(two, object{"amount": 1000, "reference": "f2"}).takenBy(t, "the amount was left out", holderOf(rest, "refund"), object{"amount": nil})
	f.disburse(disbursement("d1", object{"amount": 99})).takenBy(t, "another amount, without its order_ref", disbursed,
		object{"amount": 100.0, "order_ref": "d1"})

	f.refund(one, object{"reference": "p1"}).takenBy(t, "a refund by the payment's reference", collection, object{"type": "collection"})
	f.disburse(disbursement("p1")).takenBy(t, "a disbursement by a payment's", collection, object{"type": "collection"})
	f.disburse(disbursement("f1")).takenBy(t, "a disbursement by a refund's", refund, object{"type": "refund"})
	f.refund(one, object{"reference": "d1"}).takenBy(t, "a refund by a disbursement's", disbursed, object{"type": "disbursement"})
	f.call("POST", "/v1/payments", payment("d1")).takenBy(t, "a payment by a disbursement's", disbursed, object{"type": "disbursement"})
}

// What an operator's API records, and what it refuses, is told too: there by X-Cauri-Reason and the request log.
func TestConflictWithAnOperatorsOwnAPI(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	m := f.mtn(key)
	reference := m.pay(alice)
	found := f.call("GET", "/v1/payments?reference="+reference, nil).body["data"].([]any)[0].(object)
	holder := object{"id": found["id"], "type": "collection", "status": "PENDING"}
	f.call("POST", "/v1/payments", payment(reference)).takenBy(t, "MTN's", holder, object{"source": "native"})

	whose := fmt.Sprintf("duplicate_reference: X-Reference-Id: the reference belongs to the collection %s with status PENDING, which ", found["id"])
	for said, body := range map[string]string{
		"was recorded with the same fields: an operator refuses a repetition too": payBody(alice, "1000", "RWF"),
		"has the amount 1000":                          payBody(alice, "7", "RWF"),
		"has the amount 1000, has the number " + alice: payBody("+250788000009", "7", "RWF"),
	} {
		got := m.call("POST", "/collection/v1_0/requesttopay", body, "X-Reference-Id", reference)
		if reason := got.header.Get("X-Cauri-Reason"); got.status != http.StatusConflict || reason != whose+said {
			t.Errorf("answered %d, because %s; want %s%s", got.status, reason, whose, said)
		}
		if hint := f.requests("&status=409")[0]["hint"]; hint != strings.TrimPrefix(whose, "duplicate_reference: ")+said {
			t.Errorf("the request log has %v", hint)
		}
	}
	answer := f.requests("&path=/v1/payments")[0]["responseBody"].(object)
	if diff := cmp.Diff(any(object{"transaction": holder, "recorded": object{"source": "native"}}), answer["detail"]); diff != "" {
		t.Errorf("the request log of /v1 (-want +kept):\n%s", diff)
	}
}

// toldOtherwise has the errors of callers without a detail, and why there is none.
var toldOtherwise = map[string]string{
	"unauthorized":           "a stranger learns nothing",
	"not_found":              "the id is in the path; a store and a path have a detail",
	"being_sent":             "the event is in the path, and changes within seconds",
	"clock_reset":            "the clock says all, and starts anew",
	"unsupported_media_type": "the message has both media types",
	"too_many_rows":          "what takes too long is not known",
	"too_many_resets":        "the bound never changes, and Retry-After is a second",
	"too_many_changes":       "the bound never changes, and Retry-After has the seconds",
	"too_many_checks":        "the list of checks has the open one first",
}

// Every error that a caller can mend says more for programs, or is in the list with the reason why not.
func TestErrorsOfCallersHaveADetail(t *testing.T) {
	t.Parallel()
	for _, c := range apidoc.ErrorCases {
		e := c.Example
		if e.Status >= 400 && e.Status < 500 && (e.Detail == nil) != (toldOtherwise[e.Code] != "") {
			t.Errorf("%d %s has the detail %v, and the list says %q", e.Status, e.Code, e.Detail, toldOtherwise[e.Code])
		}
	}
}

// These are the details beside those that other tests read.
func TestDetailsOfErrors(t *testing.T) {
	f := newFixture(t)
	f.call("POST", "/v1/payments", payment("failed", object{"scenario": "timeout"}))
	failed := f.call("GET", "/v1/payments?reference=failed", nil).body["data"].([]any)[0].(object)["id"].(string)
	nowhere := payment("r", object{"operator": "moov", "country": "BJ", "currency": "XOF"})
	for _, c := range []struct {
		method, path string
		body         any
		want         object
	}{
		{"POST", "/v1/payments", payment("r", object{"application": "kiosk"}), object{"stores": []any{"shop"}}},
		{"DELETE", "/v1/payments", nil, object{"allow": []any{"GET", "HEAD", "POST"}}},
		{"GET", "/v1/payments/", nil, object{"path": "/v1/payments"}},
		{"POST", "/v1/disbursements", `{"x":"` + strings.Repeat("x", 64<<10) + `"}`, object{"limit": 65536.0}},
		{"POST", "/v1/payments/" + failed + "/refund", nil, object{"type": "collection", "status": "TIMEOUT"}},
		{"POST", "/v1/receiver_checks", object{}, object{"field": "spec.webhook.url"}},
	} {
		got := f.call(c.method, c.path, c.body)
		if diff := cmp.Diff(any(c.want), got.body["detail"]); diff != "" {
			t.Errorf("%s %s: %d %s (-want +got):\n%s", c.method, c.path, got.status, got.raw, diff)
		}
	}
	detail := f.call("POST", "/v1/payments", nowhere).body["detail"].(object)
	first := detail["environments"].([]any)[0].(object)
	if detail["operator"] != "moov" || detail["country"] != "BJ" || first["operator"] != "mtn" || first["country"] == nil {
		t.Errorf("without an environment the detail is %v", detail)
	}
}
