package httpapi_test

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// reset empties the sandbox behind the server's back: it does not look at the configuration by itself in these tests.
func (f *fixture) reset(value string) {
	f.t.Helper()
	f.config.Reset = value
	if _, err := f.store.ApplySandbox(f.t.Context(), f.config); err != nil {
		f.t.Fatal(err)
	}
}

// A server that has not seen the reset yet answers as one that has, from its first request on.
func TestNothingOfBeforeAResetIsAnswered(t *testing.T) {
	forced := object{"scenario": "success"}
	requests := map[string]struct {
		method, path string
		body         any
		status       int
		check        func(response) bool
	}{
		"get": {"GET", "/v1/payments/{id}", nil, http.StatusNotFound, nil},
		"list": {"GET", "/v1/payments", nil, http.StatusOK, func(r response) bool {
			data, _ := r.body["data"].([]any)
			return len(data) == 0 && r.body["hasMore"] == false
		}},
		"cursor":             {"GET", "/v1/payments?limit=1&cursor={cursor}", nil, http.StatusBadRequest, nil},
		"the same request":   {"POST", "/v1/payments", payment("r1", forced), http.StatusCreated, nil},
		"the same reference": {"POST", "/v1/payments", payment("r1", forced, object{"amount": 5}), http.StatusCreated, nil},
		"a refused request":  {"POST", "/v1/payments", payment("r1", forced, object{"application": "gone"}), http.StatusNotFound, nil},
		"by the SIM": {
			"POST",
			"/v1/payments",
			payment("r3"),
			http.StatusCreated,
			func(r response) bool { return r.body["status"] == "PENDING" },
		},
		"refund":              {"POST", "/v1/payments/{id}/refund", object{"reference": "r4"}, http.StatusNotFound, nil},
		"refund without body": {"POST", "/v1/payments/{id}/refund", nil, http.StatusNotFound, nil},
		"disbursement": {
			"POST",
			"/v1/disbursements",
			object{"amount": 1000, "currency": "RWF", "operator": "mtn", "country": "RW", "msisdn": alice, "reference": "r5", "application": "shop"},
			http.StatusOK,
			func(r response) bool { return r.body["status"] == "SUCCESS" },
		},
		"quota": {"POST", "/v1/payments", payment("r6", forced), http.StatusCreated, nil},
	}
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			quota, rate := int64(2), int32(600)
			f.config.MonthlyQuota, f.config.RateLimit = &quota, &rate
			f.sandbox(f.config, key)
			f.client("alice", alice, 5000)
			id, _ := f.call("POST", "/v1/payments", payment("r1", forced)).body["id"].(string)
			f.call("POST", "/v1/payments", payment("r2", forced))
			cursor, _ := f.call("GET", "/v1/payments?limit=1", nil).body["nextCursor"].(string)
			if id == "" || cursor == "" {
				t.Fatalf("it begins with the payment %q and the cursor %q", id, cursor)
			}
			f.reset("1")
			got := f.call(request.method, strings.NewReplacer("{id}", id, "{cursor}", cursor).Replace(request.path), request.body)
			if got.status != request.status || request.check != nil && !request.check(got) || got.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("answered %d, want %d: %s", got.status, request.status, got.raw)
			}
		})
	}
}

// A server that has not seen a payment's sandbox being reset finds what another one recorded since.
func TestWhatWasRecordedAfterAResetIsFoundEverywhere(t *testing.T) {
	f := newFixture(t)
	f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"}))
	f.reset("1")
	directory := sandboxes.NewDirectory(f.store.DB)
	if err := directory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	sandbox, _ := directory.ByKey(sha256.Sum256([]byte(key)))
	n := &ledger.NewCollection{
		RequestStamp: ledger.RequestStamp{RequestHash: []byte("r2"), ConfigVersion: sandbox.ConfigVersion},
		Transaction: payments.Transaction{
			Details: payments.Details{Reference: "r2", Currency: "RWF", MSISDN: alice}, ID: payments.ID{1},
			Type: payments.Collection, Status: payments.UnknownMSISDN, OrderRef: "r2", Store: "shop",
			EnvironmentID: sandbox.Environments[sandboxes.Market{Operator: payments.MTN, Country: "RW"}].ID,
			Operator:      payments.MTN, Country: "RW", Amount: 1000, NetAmount: 1000,
		},
	}
	if err := f.store.CreateCollection(t.Context(), sandbox.Tenant, n); err != nil {
		t.Fatal(err)
	}
	if got := f.call("GET", "/v1/payments/"+n.Transaction.ID.String(), nil); got.status != http.StatusOK {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
}

func TestRetainedSandboxAnswersNobody(t *testing.T) {
	f := newFixture(t)
	id, _ := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"].(string)
	if err := f.store.RetainSandbox(t.Context(), f.config.UID); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/payments", "/v1/payments/" + id} {
		if got := f.call("GET", path, nil); got.status != http.StatusUnauthorized {
			t.Errorf("GET %s answered %d: %s", path, got.status, got.raw)
		}
	}
	if got := f.call("POST", "/v1/payments/"+id+"/refund", nil); got.status != http.StatusUnauthorized {
		t.Errorf("a refund was answered %d: %s", got.status, got.raw)
	}
}
