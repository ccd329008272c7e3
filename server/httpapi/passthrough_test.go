package httpapi_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/operators/sim"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store/storetest"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

// forwarding runs a worker that finds the operators where the world serves them.
func (w *world) forwarding() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	guard := webhooks.Guard{}
	asWorker := storetest.OpenAs(w.t, w.db, storetest.Worker)
	go func() {
		defer close(done)
		worker.New(worker.Options{
			Store: asWorker, Sender: webhooks.NewSender(guard, "test", time.Now), Log: slog.New(slog.DiscardHandler),
			Operators: worker.NewOperatorAccess(guard, func(namespace, sandbox string, operator payments.Operator) string {
				return sim.BaseURL(w.url, namespace, sandbox, operator)
			}, time.Now),
		}).Run(ctx)
	}()
	w.t.Cleanup(func() {
		cancel()
		<-done
	})
}

// A number that the sandbox does not know is the operator's to decide, and the operator says so in its own words.
func TestPassthrough(t *testing.T) {
	w := newWorld(t)
	made := w.call("POST", "/v1/payments", payment("r1/..", object{"msisdn": "+2250700000001", "currency": "FCFA"}))
	if made.status != http.StatusCreated || made.body["status"] != "PENDING" || made.body["raw"].(object)["status"] != "PENDING" {
		t.Fatalf("answered %d: %s", made.status, made.raw)
	}
	w.forwarding()
	got := made
	for deadline := time.Now().Add(20 * time.Second); got.body["status"] == "PENDING"; got = w.call("GET", "/v1/payments/"+made.body["id"].(string), nil) {
		if time.Now().After(deadline) {
			t.Fatal("it stays pending")
		}
		time.Sleep(10 * time.Millisecond)
	}
	var native string
	if err := storetest.Connect(t, w.db).QueryRow(t.Context(), "select native_id from operator_payments").Scan(&native); err != nil {
		t.Fatal(err)
	}
	raw := got.body["raw"].(object)
	if got.body["status"] != "SUCCESS" || raw["status"] != "SUCCESSFULL" || raw["txnid"] != native || got.body["providerTxId"] != native || raw["order_id"] != "r1/.." {
		t.Errorf("it ended as %s", got.raw)
	}
	if !strings.Contains(got.raw, `"raw":{"_simulated":true,"status":"SUCCESSFULL",`) {
		t.Errorf("raw is not in the operator's form: %s", got.raw)
	}
	replay := w.call("POST", "/v1/payments", payment("r1/..", object{"msisdn": "+2250700000001", "currency": "FCFA"}))
	if replay.status != http.StatusOK || replay.body["status"] != "SUCCESS" {
		t.Errorf("the same again answered %d: %s", replay.status, replay.raw)
	}
}

// The operators are served beside the API, without its keys and in their own words.
func TestOperatorsAreServed(t *testing.T) {
	w := newWorld(t)
	const mtn = "/sandboxes/team/checkout/operators/mtn/collection/"
	native := func(method, path string, change func(*http.Request)) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	anybody := func(r *http.Request) { r.SetBasicAuth("anybody", "anything") }
	if code, body := native("POST", mtn+"token/", anybody); code != http.StatusOK || !strings.Contains(body, `"expires_in":3600`) {
		t.Errorf("answered %d: %s", code, body)
	}
	withKey := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
	if code, body := native("GET", mtn+"v1_0/requesttopay/1", withKey); code != http.StatusUnauthorized || !strings.Contains(body, "invalid_token") {
		t.Errorf("an API key is no token: %d: %s", code, body)
	}
	for _, path := range []string{"/operators/mtn/collection/token/", "/sandboxes/team/checkout/operators/wave/token", "/sandboxes/team/checkout/api/v1/operators/mtn/collection/token/"} {
		if code, body := native("POST", path, anybody); code != http.StatusNotFound || !strings.Contains(body, `"error":"not_found"`) {
			t.Errorf("%s answered %d: %s", path, code, body)
		}
	}
}
