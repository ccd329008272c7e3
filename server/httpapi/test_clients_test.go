package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const bob = "+250788000002"

func manual(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual }

// prompt makes a payment that waits for its payer, and returns its id.
func (f *fixture) prompt(reference, msisdn string) string {
	f.t.Helper()
	got := f.call("POST", "/v1/payments", payment(reference, object{"msisdn": msisdn}))
	if got.body["status"] != "PENDING" {
		f.t.Fatalf("the payment is %s", got.raw)
	}
	return got.body["id"].(string)
}

func TestTestClients(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000, manual)
	f.client("bob", bob, 7, func(c *sandboxes.TestClientConfig) { c.Blocked = true })
	f.prompt("r1", alice)
	aliceView := object{
		"msisdn":         alice,
		"name":           "alice",
		"operator":       "mtn",
		"country":        "RW",
		"currency":       "RWF",
		"source":         "resource",
		"state":          "Active",
		"behavior":       "Manual",
		"balance":        50_000.0,
		"pendingPrompts": 1.0,
		"manualUntil":    nil,
	}
	got := f.call("GET", "/v1/test_clients?limit=1", nil)
	if diff := cmp.Diff([]any{aliceView}, got.body["data"]); diff != "" || got.body["hasMore"] != true {
		t.Errorf("the first page (-want +got):\n%s%s", diff, got.raw)
	}
	got = f.call("GET", "/v1/test_clients?limit=1&cursor="+got.body["nextCursor"].(string), nil)
	next := got.body["data"].([]any)[0].(object)
	if next["msisdn"] != bob || next["state"] != "Blocked" || next["pendingPrompts"] != 0.0 || got.body["hasMore"] != false ||
		got.body["nextCursor"] != nil {
		t.Errorf("the second page: %s", got.raw)
	}
	for _, form := range []string{alice, url.QueryEscape(alice)} {
		for _, base := range []string{"/v1", "/api/v1", "/sandboxes/team/checkout/v1", "/sandboxes/team/checkout/api/v1"} {
			got := f.call("GET", base+"/test_clients/"+form, nil)
			if diff := cmp.Diff(aliceView, got.body); diff != "" {
				t.Errorf("%s/%s (-want +got):\n%s", base, form, diff)
			}
			if got := f.call("GET", base+"/test_clients/"+form+"/prompts", nil); len(got.body["data"].([]any)) != 1 {
				t.Errorf("%s/%s has the prompts %s", base, form, got.raw)
			}
		}
	}
	if got := f.call("GET", "/v1/test_clients", nil, withKey(otherKey)); len(got.body["data"].([]any)) != 0 {
		t.Errorf("another sandbox sees %s", got.raw)
	}
}

func TestTestClientsThatAreNotThere(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000, manual)
	id := f.prompt("r1", alice)
	other := f.prompt("r2", alice)
	cases := map[string]struct {
		method, path string
		status       int
		code         string
		change       func(*http.Request)
	}{
		"unknown number":            {"GET", "/v1/test_clients/" + bob, 404, "not_found", nil},
		"prompts of unknown number": {"GET", "/v1/test_clients/" + bob + "/prompts", 404, "not_found", nil},
		"of another sandbox":        {"GET", "/v1/test_clients/" + alice, 404, "not_found", withKey(otherKey)},
		"no plus":                   {"GET", "/v1/test_clients/250788000001", 400, "invalid_params", nil},
		"escaped twice":             {"GET", "/v1/test_clients/%252B250788000001", 400, "invalid_params", nil},
		"escaped twice, api":        {"GET", "/api/v1/test_clients/%252B250788000001", 400, "invalid_params", nil},
		"words":                     {"GET", "/v1/test_clients/alice/prompts", 400, "invalid_params", nil},
		"bad limit":                 {"GET", "/v1/test_clients/" + alice + "/prompts?limit=0", 400, "invalid_params", nil},
		"bad cursor":                {"GET", "/v1/test_clients/" + alice + "/prompts?cursor=x", 400, "invalid_params", nil},
		"answer of unknown number":  {"POST", "/v1/test_clients/" + bob + "/prompts/" + id + "/approve", 404, "not_found", nil},
		"answer of malformed":       {"POST", "/v1/test_clients/x/prompts/" + id + "/approve", 400, "invalid_params", nil},
		"answer of no prompt":       {"POST", "/v1/test_clients/" + alice + "/prompts/TX_0/approve", 404, "not_found", nil},
		"answer by another sandbox": {"POST", "/v1/test_clients/" + alice + "/prompts/" + id + "/approve", 404, "not_found", withKey(otherKey)},
		"no such answer":            {"POST", "/v1/test_clients/" + alice + "/prompts/" + id + "/perhaps", 404, "not_found", nil},
		"no key":                    {"POST", "/v1/test_clients/" + alice + "/prompts/" + id + "/approve", 401, "unauthorized", withKey("x")},
		"another method":            {"GET", "/v1/test_clients/" + alice + "/prompts/" + id + "/approve", 405, "method_not_allowed", nil},
	}
	for name, c := range cases {
		change := c.change
		if change == nil {
			change = func(*http.Request) {}
		}
		if got := f.call(c.method, c.path, nil, change); got.status != c.status || got.body["error"] != c.code {
			t.Errorf("%s: answered %d %s", name, got.status, got.raw)
		}
	}
	for _, id := range []string{id, other} {
		if got := f.call("GET", "/v1/payments/"+id, nil); got.body["status"] != "PENDING" {
			t.Errorf("the payment is %s", got.body["status"])
		}
	}
}

func TestPayerByHand(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000, manual)
	f.client("bob", bob, 5000)
	for i, c := range []struct {
		answer, status, msisdn string
		left                   float64
	}{{"approve", "SUCCESS", alice, 4000}, {"cancel", "USER_CANCELLED", alice, 4000}, {"wrong_pin", "PIN_INVALID", alice, 4000}, {"cancel", "USER_CANCELLED", bob, 5000}} {
		id := f.prompt(fmt.Sprint("r", i), c.msisdn)
		path := "/api/v1/test_clients/" + url.QueryEscape(c.msisdn) + "/prompts"
		prompts := f.call("GET", path, nil)
		if got := prompts.body["data"].([]any)[0].(object); got["id"] != id || got["customerTotal"] != 1000.0 || got["application"] != "shop" ||
			got["expiresAt"] == nil {
			t.Errorf("%s: the prompt is %s", c.answer, prompts.raw)
		}
		got := f.call("POST", path+"/"+id+"/"+c.answer, nil)
		if got.status != http.StatusOK || got.body["status"] != c.status || got.body["id"] != id || got.body["completedAt"] == nil {
			t.Errorf("%s answered %d %s", c.answer, got.status, got.raw)
		}
		if replayed := got.header.Get("Idempotent-Replayed"); replayed != "" {
			t.Errorf("%s is said to be a replay", c.answer)
		}
		again := f.call("POST", path+"/"+id+"/"+c.answer, "{}")
		if diff := cmp.Diff(got.body, again.body); diff != "" || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s again (-first +again):\n%s%v", c.answer, diff, again.header)
		}
		for _, other := range []string{"approve", "cancel", "wrong_pin"} {
			if other == c.answer {
				continue
			}
			closed := f.call("POST", path+"/"+id+"/"+other, nil)
			if closed.status != http.StatusConflict || closed.body["error"] != "prompt_closed" ||
				closed.body["detail"].(object)["status"] != c.status {
				t.Errorf("%s after %s answered %d %s", other, c.answer, closed.status, closed.raw)
			}
		}
		client := f.call("GET", "/v1/test_clients/"+c.msisdn, nil)
		if client.body["balance"] != c.left || client.body["pendingPrompts"] != 0.0 {
			t.Errorf("after %s: %s", c.answer, client.raw)
		}
	}
}

func TestExpiredPromptIsClosed(t *testing.T) {
	f := newFixture(t)
	f.config.PendingTimeout = time.Millisecond
	f.sandbox(f.config, key)
	f.client("alice", alice, 5000, manual)
	id := f.call("POST", "/v1/payments", payment("r1")).body["id"].(string)
	got := f.call("POST", "/v1/test_clients/"+alice+"/prompts/"+id+"/approve", nil)
	if got.status != http.StatusConflict || got.body["error"] != "prompt_closed" || got.body["detail"].(object)["status"] != "TIMEOUT" {
		t.Errorf("answered %d %s", got.status, got.raw)
	}
	if got := f.call("GET", "/v1/payments/"+id, nil); got.body["status"] != "TIMEOUT" || got.body["completedAt"] == nil {
		t.Errorf("the payment is %s", got.raw)
	}
}

// The lists take of each parameter just what the document says that they take.
func TestTestClientParametersAreReadAsDescribed(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 5000)
	for _, path := range []string{"/v1/test_clients", "/v1/test_clients/{msisdn}/prompts"} {
		for _, parameter := range theContract(t).operation("GET", path)["parameters"].([]any) {
			p := theContract(t).resolve(parameter.(object))
			if p["in"] != "query" {
				continue
			}
			name := p["name"].(string)
			list := func(value string) response {
				return f.call("GET", strings.Replace(path, "{msisdn}", alice, 1)+"?"+url.Values{name: {value}}.Encode(), nil)
			}
			good, bad := valuesOf(theContract(t).resolve(p["schema"].(object)))
			for _, value := range knownHere(good) {
				if got := list(value); got.status != http.StatusOK {
					t.Errorf("%s: %s=%s answered %d: %s", path, name, value, got.status, got.raw)
				}
			}
			for _, value := range bad {
				got := list(value)
				detail, _ := got.body["detail"].(object)
				if wrong, _ := detail["fieldErrors"].(object); got.status != http.StatusBadRequest || wrong[name] == nil {
					t.Errorf("%s: %s=%s answered %d: %s", path, name, value, got.status, got.raw)
				}
			}
		}
	}
	// A cursor is of one list only.
	f.client("bob", bob, 5000)
	cursor := f.call("GET", "/v1/test_clients?limit=1", nil).body["nextCursor"].(string)
	for _, list := range []string{"/v1/payments", "/v1/test_clients/" + alice + "/prompts"} {
		if got := f.call("GET", list+"?cursor="+cursor, nil); got.status != http.StatusBadRequest {
			t.Errorf("%s takes a cursor of the test clients: %d", list, got.status)
		}
	}
}

// Somebody answers for a test client that approves by itself, for half an hour at most.
func TestManualForATime(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	path := "/v1/test_clients/" + alice
	got := f.call("POST", path+"/manual", nil)
	ends, err := time.Parse(time.RFC3339, fmt.Sprint(got.body["manualUntil"]))
	if left := time.Until(ends); got.status != http.StatusOK || got.body["behavior"] != "Approve" || err != nil || left > 30*time.Minute || left < 0 {
		t.Fatalf("answered %d %s, %v", got.status, got.raw, err)
	}
	if list := f.call("GET", "/v1/test_clients", nil); !strings.Contains(list.raw, fmt.Sprintf(`"manualUntil":%q`, got.body["manualUntil"])) {
		t.Errorf("the list has %s", list.raw)
	}
	id := f.prompt("r1", alice)
	f.settle()
	if got := f.call("GET", "/v1/payments/"+id, nil); got.body["status"] != "PENDING" {
		t.Errorf("nobody answered, and the payment is %s", got.raw)
	}
	if got := f.call("POST", path+"/prompts/"+id+"/approve", nil); got.body["status"] != "SUCCESS" {
		t.Errorf("the approved payment is %s", got.raw)
	}
	f.call("POST", path+"/manual", nil)
	if got := f.call("DELETE", path+"/manual", nil); got.status != http.StatusOK || got.body["manualUntil"] != nil {
		t.Errorf("ending answered %d %s", got.status, got.raw)
	}
	id = f.prompt("r2", alice)
	f.settle()
	if got := f.call("GET", "/v1/payments/"+id, nil); got.body["status"] != "SUCCESS" {
		t.Errorf("the behavior decides again, and the payment is %s", got.raw)
	}
	f.allow()
	f.call("POST", path+"/manual", nil)
	f.call("POST", "/v1/reset", nil)
	if got := f.call("GET", path, nil); got.status != http.StatusOK || got.body["manualUntil"] != nil {
		t.Errorf("a reset does not end it: %d %s", got.status, got.raw)
	}
	for _, method := range []string{"POST", "DELETE"} {
		if got := f.call(method, "/v1/test_clients/"+bob+"/manual", nil); got.status != http.StatusNotFound {
			t.Errorf("%s of an unknown number answered %d", method, got.status)
		}
	}
}
