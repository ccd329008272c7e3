package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func withMediaType(media string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Content-Type", media) }
}

func TestTestClientsByAPI(t *testing.T) {
	f := newFixture(t)
	f.allow()
	want := object{
		"msisdn": bob, "name": "", "source": "api", "operator": "mtn", "country": "RW", "currency": "RWF", "state": "Active", "behavior": "Approve",
		"balance": 0.0, "pendingPrompts": 0.0, "manualUntil": nil,
	}
	steps := []struct {
		method, path string
		body         any
		status       int
		change       object // of what it is then
	}{
		{"POST", "/v1/test_clients", object{"msisdn": bob}, 201, nil},
		{"PATCH", "/v1/test_clients/" + bob, object{"balance": 5000, "behavior": "Manual"}, 200, object{
			"balance": 5000.0, "behavior": "Manual",
		}},
		{"PATCH", "/api/v1/test_clients/%2B250788000002", object{"name": "bob", "state": "Blocked"}, 200, object{"name": "bob", "state": "Blocked"}},
		{"PATCH", "/v1/test_clients/" + bob, object{}, 200, nil},
		{"PATCH", "/v1/test_clients/" + bob, object{"msisdn": bob, "operator": "mtn", "country": "RW", "unknown": 1}, 200, nil},
		{"PATCH", "/v1/test_clients/" + bob, object{"state": nil, "behavior": nil}, 200, object{
			"state": "Active", "behavior": "Approve",
		}},
		{"PATCH", "/v1/test_clients/" + bob, object{"balance": nil, "name": nil}, 200, object{"balance": 0.0, "name": ""}},
	}
	for i, step := range steps {
		for name, value := range step.change {
			want[name] = value
		}
		got := f.call(step.method, step.path, step.body)
		if diff := cmp.Diff(want, got.body); diff != "" || got.status != step.status {
			t.Fatalf("step %d is answered %d (-want +got):\n%s", i, got.status, diff)
		}
		if location := got.header.Get("Location"); (location == "/v1/test_clients/"+bob) != (got.status == 201) {
			t.Errorf("step %d has the Location %q", i, location)
		}
		if read := f.call("GET", "/v1/test_clients/"+bob, nil); cmp.Diff(want, read.body) != "" {
			t.Errorf("after step %d it is read as %s", i, read.raw)
		}
	}
	merge := f.call("PATCH", "/v1/test_clients/"+bob, object{"balance": 7000}, withMediaType("application/merge-patch+json"))
	if merge.body["balance"] != 7000.0 {
		t.Errorf("a merge patch is answered %s", merge.raw)
	}
	paid := f.prompt("r1", bob)
	if got := f.call("DELETE", "/v1/test_clients/"+bob, nil); got.status != http.StatusNoContent || got.raw != "" {
		t.Errorf("the deletion is answered %d %q", got.status, got.raw)
	}
	f.exec("update transactions set due_at = now()")
	if _, err := ledgertest.SettleDue(t.Context(), f.store, 10); err != nil {
		t.Fatal(err)
	}
	if got := f.call("GET", "/v1/payments/"+paid, nil); got.body["status"] != "UNKNOWN_MSISDN" {
		t.Errorf("its payment is %s", got.raw)
	}
	f.conserved()
}

func TestTestClientsThatAreRefused(t *testing.T) {
	limit := int64(3)
	f := newFixture(t)
	f.config.API.MaxTestClients = &limit
	f.allow()
	f.client("alice", alice, 50_000)
	f.call("POST", "/v1/test_clients", object{"msisdn": bob, "name": "bob"})
	const carol, path = "+250788000003", "/v1/test_clients"
	cases := map[string]struct {
		method, path string
		body         any
		status       int
		code, says   string
		change       func(*http.Request)
	}{
		"a resource's number":     {"POST", path, object{"msisdn": alice}, 409, "duplicate_msisdn", `TestClient resource \"alice\"`, nil},
		"the API's number":        {"POST", path, object{"msisdn": bob}, 409, "duplicate_msisdn", `"name":"bob","source":"api"`, nil},
		"a resource's balance":    {"PATCH", path + "/" + alice, object{"balance": 5}, 409, "managed_by_resource", `"name":"alice"`, nil},
		"a resource's deletion":   {"DELETE", path + "/" + alice, nil, 409, "managed_by_resource", `"name":"alice"`, nil},
		"unknown number":          {"PATCH", path + "/" + carol, object{"balance": 5}, 404, "not_found", "", nil},
		"deletion of unknown":     {"DELETE", path + "/" + carol, nil, 404, "not_found", "", nil},
		"no number":               {"POST", path, object{}, 400, "invalid_body", "is required, for example +250788123456", nil},
		"a local number":          {"POST", path, object{"msisdn": "0788000003"}, 400, "invalid_body", "E.164", nil},
		"unknown market":          {"POST", path, object{"msisdn": "+33612345678"}, 400, "invalid_body", "send one of " + payments.List(payments.KnownEverywhere.Countries()), nil},
		"unknown prefix":          {"POST", path, object{"msisdn": "+250688000003"}, 400, "invalid_body", "send one of " + payments.List(payments.KnownEverywhere.Operators()), nil},
		"airtel elsewhere":        {"POST", path, object{"msisdn": "+2250700000001", "operator": "airtel"}, 400, "invalid_body", "send RW", nil},
		"unknown operator":        {"POST", path, object{"msisdn": carol, "operator": "vodacom"}, 400, "invalid_body", "mtn", nil},
		"unknown country":         {"POST", path, object{"msisdn": carol, "country": "ZZ"}, 400, "invalid_body", "BJ", nil},
		"a state in small":        {"POST", path, object{"msisdn": carol, "state": "blocked"}, 400, "invalid_body", "Blocked", nil},
		"unknown behavior":        {"POST", path, object{"msisdn": carol, "behavior": "Pay"}, 400, "invalid_body", "Manual", nil},
		"a negative balance":      {"POST", path, object{"msisdn": carol, "balance": -1}, 400, "invalid_body", "0", nil},
		"a balance too large":     {"POST", path, object{"msisdn": carol, "balance": 1_000_000_000_001}, 400, "invalid_body", "<= 1000000000000", nil},
		"a balance with decimals": {"POST", path, `{"msisdn":"` + carol + `","balance":1.5}`, 400, "invalid_body", "integer", nil},
		"a balance as text":       {"PATCH", path + "/" + bob, object{"balance": "5"}, 400, "invalid_body", "integer", nil},
		"another number":          {"PATCH", path + "/" + bob, object{"msisdn": carol}, 400, "invalid_body", "cannot be changed", nil},
		"another operator":        {"PATCH", path + "/" + bob, object{"operator": "airtel"}, 400, "invalid_body", "cannot be changed", nil},
		"another country":         {"PATCH", path + "/" + bob, object{"country": "TG"}, 400, "invalid_body", "cannot be changed", nil},
		"no object":               {"PATCH", path + "/" + bob, `[]`, 400, "invalid_body", "not a JSON object", nil},
		"no body":                 {"POST", path, nil, 400, "invalid_body", "", nil},
		"a form":                  {"POST", path, "msisdn=1", 415, "unsupported_media_type", "", withMediaType("application/x-www-form-urlencoded")},
		"a merge patch to create": {"POST", path, object{}, 415, "unsupported_media_type", "", withMediaType("application/merge-patch+json")},
		"no plus":                 {"DELETE", path + "/250788000002", nil, 400, "invalid_params", "", nil},
		"another sandbox":         {"DELETE", path + "/" + bob, nil, 403, "forbidden", `"field":"spec.api.testClients"`, withKey(otherKey)},
		"another sandbox's reset": {"POST", "/v1/reset", nil, 403, "forbidden", "Set spec.api.reset", withKey(otherKey)},
		"a deletion of all":       {"DELETE", path, nil, 405, "method_not_allowed", "", nil},
		"a reading of a reset":    {"GET", "/v1/reset", nil, 405, "method_not_allowed", "", nil},
	}
	for name, c := range cases {
		change := c.change
		if change == nil {
			change = func(*http.Request) {}
		}
		got := f.call(c.method, c.path, c.body, change)
		if got.status != c.status || got.body["error"] != c.code || !strings.Contains(got.raw, c.says) {
			t.Errorf("%s: answered %d %s", name, got.status, got.raw)
		}
	}
	if got := f.call("POST", path, object{"msisdn": carol}); got.status != http.StatusCreated {
		t.Errorf("the third is answered %s", got.raw)
	}
	got := f.call("POST", path, object{"msisdn": "+250788000004"})
	if got.body["error"] != "too_many_test_clients" || got.status != http.StatusConflict || !strings.Contains(got.raw, "have 3 test clients") {
		t.Errorf("the fourth is answered %d %s", got.status, got.raw)
	}
	if got := f.call("DELETE", path, nil).header.Get("Allow"); got != "GET, HEAD, POST" {
		t.Errorf("the list allows %s", got)
	}
	if got := f.call("PUT", path+"/"+bob, nil).header.Get("Allow"); got != "GET, HEAD, PATCH, DELETE" {
		t.Errorf("a test client allows %s", got)
	}
}

// A key may do from one moment on what its resource allows, and no more from another, although the api has a copy of the configuration.
func TestPermissionsHoldAtOnce(t *testing.T) {
	f := newFixture(t)
	calls := []struct {
		method, path string
		body         any
	}{
		{"POST", "/v1/test_clients", object{"msisdn": bob}},
		{"PATCH", "/v1/test_clients/" + bob, object{"balance": 5}},
		{"DELETE", "/v1/test_clients/" + bob, nil},
		{"POST", "/v1/reset", nil},
		{"POST", "/v1/reset", object{}},
	}
	for _, call := range calls {
		for _, allowed := range []bool{false, true} {
			f.config.API = sandboxes.APIAccess{TestClients: allowed, Reset: allowed}
			f.sandbox(f.config, key)
			got := f.call(call.method, call.path, call.body)
			if (got.status < 300) != allowed || !allowed && got.status != http.StatusForbidden {
				t.Errorf("allowed %v: %s %s is answered %d %s", allowed, call.method, call.path, got.status, got.raw)
			}
		}
	}
	f.config.API, f.config.Suspended = sandboxes.APIAccess{TestClients: true, Reset: true}, true
	f.sandbox(f.config, key)
	for _, call := range calls {
		if got := f.call(call.method, call.path, call.body); got.body["error"] != "suspended" {
			t.Errorf("suspended: %s %s is answered %d %s", call.method, call.path, got.status, got.raw)
		}
	}
}

func TestResetByAPI(t *testing.T) {
	quota := int64(2)
	f := newFixture(t)
	f.config.MonthlyQuota, f.config.Reset = &quota, "made with"
	f.allow()
	f.client("alice", alice, 5000)
	f.call("POST", "/v1/test_clients", object{"msisdn": bob, "balance": 5000})
	forced := object{"scenario": "success"}
	id := f.call("POST", "/v1/payments", payment("r1", forced)).body["id"].(string)
	f.prompt("r2", bob)
	got := f.call("POST", "/v1/reset", nil)
	if id, _ := got.body["organizationId"].(string); got.status != http.StatusOK || !strings.HasPrefix(id, "org_") {
		t.Fatalf("answered %d %s", got.status, got.raw)
	}
	for path, want := range map[string]int{"/v1/payments/" + id: 404, "/v1/test_clients/" + bob: 404, "/v1/test_clients/" + alice: 200} {
		if got := f.call("GET", path, nil); got.status != want {
			t.Errorf("%s is answered %d %s", path, got.status, got.raw)
		}
	}
	if got := f.call("GET", "/v1/test_clients/"+alice, nil); got.body["balance"] != 5000.0 {
		t.Errorf("the resource's SIM is %s", got.raw)
	}
	for _, path := range []string{"/v1/payments", "/v1/events"} {
		if got := f.call("GET", path, nil); len(got.body["data"].([]any)) != 0 {
			t.Errorf("%s has %s", path, got.raw)
		}
	}
	if got := f.call("POST", "/v1/payments", payment("r1", forced)); got.status != http.StatusCreated || got.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("its reference and its quota are taken: %d %s", got.status, got.raw)
	}
	state, err := f.store.ApplySandbox(t.Context(), f.config)
	if err != nil || state.Reset != "made with" || state.Transactions.Total != 1 {
		t.Errorf("for the controller it is %+v, %v", state, err)
	}
	f.conserved()
}

func TestResetsByAPIAreLimited(t *testing.T) {
	f := newFixture(t)
	f.allow()
	ledgertest.Eventually(t, func() bool { // where the statements take more than a second, it is not refused
		f.exec("update organizations set api_resets = array_fill(clock_timestamp(), array[5])")
		got := f.call("POST", "/v1/reset", nil)
		return got.status == http.StatusTooManyRequests && got.body["error"] == "too_many_resets" && got.header.Get("Retry-After") == "1"
	})
}

// Test clients and a reset take the requests of the rate limit, and a reset does not give them back for itself.
func TestChangesCountForTheRateLimit(t *testing.T) {
	rate := int32(2)
	f := newFixture(t)
	f.config.RateLimit = &rate
	f.allow()
	var answers []int
	for i := range 3 {
		answers = append(answers, f.call("POST", "/v1/test_clients", object{"msisdn": fmt.Sprintf("+25078800000%d", i)}).status)
	}
	if !slices.Equal(answers, []int{201, 201, 429}) {
		t.Errorf("answered %v", answers)
	}
}
