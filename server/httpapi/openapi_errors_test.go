package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/service"
)

// wantRefusalsOfOrders checks that all error codes of orders are among the tried ones. The example's quota is too large.
func wantRefusalsOfOrders(t *testing.T, tried []string) {
	t.Helper()
	for _, r := range service.Refusals {
		if r.Of == service.Orders && !slices.Contains(tried, r.Code) && r.Code != "quota_exceeded" {
			t.Errorf("no request is answered with %s", r.Code)
		}
	}
}

// What the document shows of an error is what is answered, to the letter.
func TestExamplesOfErrorsAreWhatIsAnswered(t *testing.T) {
	f := newFixture(t)
	paid := f.call("POST", "/v1/payments", payment("r1", object{"amount": 25_000, "scenario": "success"})).body["id"].(string)
	failed := f.call("POST", "/v1/payments", payment("failed", object{"scenario": "timeout"})).body["id"].(string)
	f.call("POST", "/v1/payments/"+paid+"/refund", object{"amount": 5000})
	const create, disburse = "/v1/payments", "/v1/disbursements"
	f.client("alice", alice, 50_000)
	const taken = "SHOP-PAY-20260531120000-4F2A9C01B7E3"
	holder := f.call("POST", "/v1/payments", payment(taken, object{"description": "Two tickets"})).body["id"].(string)
	cancelled := f.call("POST", "/v1/payments", payment("r2")).body["id"].(string)
	prompt := "/v1/test_clients/" + alice + "/prompts/" + cancelled
	f.call("POST", prompt+"/cancel", nil)
	cases := map[string]struct {
		method, path, template string
		body                   any
		change                 func(*http.Request)
	}{
		"invalid_body":           {"POST", create, create, payment("r", object{"amount": "1", "reference": nil}), nil},
		"invalid_params":         {"GET", create + "?limit=0", create, nil, nil},
		"unauthorized":           {"GET", create, create, nil, withKey("cauri_sk_test_none")},
		"not_found":              {"GET", create + "/TX_0", create + "/{id}", nil, nil},
		"env_not_found":          {"POST", create, create, payment("r", object{"operator": "moov", "country": "BJ", "currency": "XOF"}), nil},
		"duplicate_reference":    {"POST", create, create, payment(taken, object{"description": "Two tickets, 10:31"}), nil},
		"body_too_large":         {"POST", disburse, disburse, `{"x":"` + strings.Repeat("x", 64<<10) + `"}`, nil},
		"unsupported_media_type": {"POST", disburse, disburse, "{}", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }},
		"exceeds_refundable":     {"POST", create + "/" + paid + "/refund", create + "/{id}/refund", object{"amount": 20_001}, nil},
		"prompt_closed":          {"POST", prompt + "/approve", "/v1/test_clients/{msisdn}/prompts/{tx}/{answer}", nil, nil},
		"suspended":              {"GET", create, create, nil, withKey(otherKey)},
		"no_webhook":             {"POST", "/v1/events/" + eventOf(paid) + "/resend", "/v1/events/{id}/resend", nil, nil},
		"not_refundable":         {"POST", create + "/" + failed + "/refund", create + "/{id}/refund", nil, nil},
	}
	wantRefusalsOfOrders(t, slices.Collect(maps.Keys(cases)))
	f.suspendOther()
	f.follow()
	for code, c := range cases {
		t.Run(code, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*http.Request) {}
			}
			got := f.call(c.method, c.path, c.body, change)
			operation := theContract(t).document["paths"].(object)[c.template].(object)[strings.ToLower(c.method)].(object)
			answer, _ := theContract(t).answer(operation, "", strconv.Itoa(got.status))
			example, _ := examplesOf(answer)[code].(object)
			if code == "duplicate_reference" { // the one thing that no test can choose
				described := example["value"].(object)["detail"].(object)["transaction"].(object)["id"].(string)
				if err := json.Unmarshal([]byte(strings.ReplaceAll(got.raw, holder, described)), &got.body); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(example["value"], any(got.body)); diff != "" {
				t.Errorf("%d (-described +real):\n%s", got.status, diff)
			}
		})
	}
}
