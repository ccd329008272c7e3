package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// suspendOther suspends the sandbox team/other, which has the other key.
func (f *fixture) suspendOther() {
	f.t.Helper()
	other := f.config
	other.UID, other.Name, other.Suspended = "22222222-2222-2222-2222-222222222222", "other", true
	f.sandbox(other, otherKey)
}

// suspend suspends or resumes the sandbox team/checkout.
func (f *fixture) suspend(suspended bool) {
	f.t.Helper()
	f.config.Suspended = suspended
	f.sandbox(f.config, key)
}

// follow makes the server read the configuration: whoever comes with a key that it does not know makes it.
func (f *fixture) follow() {
	f.t.Helper()
	f.call("GET", "/v1/payments", nil, withKey("cauri_sk_test_unknown"))
}

func TestSuspendedSandboxIsNotServed(t *testing.T) {
	f := newFixture(t)
	limit := int32(1)
	f.config.RateLimit = &limit
	f.suspend(true)
	f.follow()
	paths := theContract(t).document["paths"].(object)
	for path, item := range paths {
		for method, operation := range item.(object) {
			path = strings.NewReplacer("{id}", "TX_0", "{msisdn}", alice, "{tx}", "TX_0", "{answer}", "approve").Replace(path)
			if _, open := operation.(object)["security"]; open {
				if got := f.call(strings.ToUpper(method), path, nil); got.status != http.StatusOK {
					t.Errorf("%s %s, which needs no key, answered %d", method, path, got.status)
				}
				continue
			}
			for range 2 { // the rate limit comes later
				got := f.call(strings.ToUpper(method), path, "not even JSON")
				if got.status != http.StatusServiceUnavailable || got.body["error"] != "suspended" || got.header.Get("Retry-After") != "60" {
					t.Errorf("%s %s answered %d %s", method, path, got.status, got.raw)
				}
			}
		}
	}
	if got := f.call("GET", "/v1/payments", nil, withKey("cauri_sk_test_none")); got.status != http.StatusUnauthorized {
		t.Errorf("without a valid key: %d", got.status)
	}
	f.suspend(false)
	f.follow()
	if got := f.call("GET", "/v1/payments", nil); got.status != http.StatusOK {
		t.Errorf("after it was resumed: %d %s", got.status, got.raw)
	}
}

// What was decided before the sandbox was suspended, and not yet recorded, is not recorded any more.
func TestDecisionsBeforeTheSuspensionAreNotRecorded(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	paid := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	waits := f.call("POST", "/v1/payments", payment("r2")).body["id"].(string)
	before := f.transactions()
	f.suspend(true) // the server does not know yet
	for path, body := range map[string]any{
		"/v1/payments":                     payment("r3"),
		"/v1/payments/" + paid + "/refund": object{"amount": 1},
		"/v1/disbursements":                disbursement("r4"),
		"/v1/test_clients/" + alice + "/prompts/" + waits + "/approve": nil,
	} {
		got := f.call("POST", path, body)
		if got.status != http.StatusServiceUnavailable || got.body["error"] != "suspended" {
			t.Errorf("%s answered %d %s", path, got.status, got.raw)
		}
		f.suspend(false) // so that the next one, too, meets a server that does not know
		f.follow()
		f.suspend(true)
	}
	f.suspend(false)
	f.follow()
	if diff := cmp.Diff(before, f.transactions()); diff != "" {
		t.Errorf("transactions (-before +after):\n%s", diff)
	}
	if got := f.call("GET", "/v1/payments/"+waits, nil); got.body["status"] != "PENDING" {
		t.Errorf("the payment that waited is %s", got.body["status"])
	}
}
