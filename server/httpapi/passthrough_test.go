package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

// forwarding runs a worker.
func (f *fixture) forwarding() {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	guard := egress.Guard{}
	asWorker := ledgertest.OpenAs(f.t, f.db, ledgertest.Worker)
	go func() {
		defer close(done)
		worker.New(worker.Options{
			Database: asWorker, Sender: webhooks.NewSender(guard, "test", time.Now), Log: slog.New(slog.DiscardHandler),
			Operators: worker.NewOperatorAccess(guard, time.Now),
		}).Run(ctx)
	}()
	f.t.Cleanup(func() {
		cancel()
		<-done
	})
}

// A number that the sandbox does not know is the operator's to decide. One that no store names approves, in the operator's words.
func TestPassthrough(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/payments", payment("r1/..", object{"msisdn": "+2250700000001", "currency": "FCFA"}))
	if made.status != http.StatusCreated || made.body["status"] != "PENDING" || made.body["raw"].(object)["status"] != "PENDING" {
		t.Fatalf("answered %d: %s", made.status, made.raw)
	}
	f.forwarding()
	got := made
	for deadline := time.Now().Add(time.Minute); got.body["status"] == "PENDING"; got = f.call("GET", "/v1/payments/"+made.body["id"].(string), nil) {
		if time.Now().After(deadline) {
			t.Fatal("it stays pending")
		}
		time.Sleep(10 * time.Millisecond)
	}
	raw, id := got.body["raw"].(object), made.body["providerTxId"]
	if got.body["status"] != "SUCCESS" || raw["status"] != "SUCCESSFULL" || raw["txnid"] != id || got.body["providerTxId"] != id ||
		raw["order_id"] != "r1/.." {
		t.Errorf("it ended as %s", got.raw)
	}
	if !strings.Contains(got.raw, `"raw":{"_simulated":true,"status":"SUCCESSFULL",`) {
		t.Errorf("raw is not in the operator's form: %s", got.raw)
	}
	replay := f.call("POST", "/v1/payments", payment("r1/..", object{"msisdn": "+2250700000001", "currency": "FCFA"}))
	if replay.status != http.StatusOK || replay.body["status"] != "SUCCESS" {
		t.Errorf("the same again answered %d: %s", replay.status, replay.raw)
	}
}

// A stranger who asks for the API of an operator that has none here, in its own words and with any credentials, learns nothing.
func TestOtherOperatorsAreNotServed(t *testing.T) {
	f := newFixture(t)
	for _, sandbox := range []string{"team/checkout", "team/nobody"} {
		for _, path := range []string{
			"POST orange/oauth/v3/token", "POST orange/orange-money-webpay/dev/v1/webpayment",
		} {
			method, below, _ := strings.Cut(path, " ")
			if operator, _, _ := strings.Cut(below, "/"); operators.NativeAPI(payments.Operator(operator)) != nil {
				continue
			}
			for _, authorization := range []string{"", "Basic YW55Ym9keTphbnl0aGluZw==", "Bearer " + key} {
				r, err := http.NewRequestWithContext(t.Context(), method, f.url+"/sandboxes/"+sandbox+"/operators/"+below, strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", authorization)
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = answer.Body.Close()
				if answer.StatusCode != http.StatusNotFound {
					t.Errorf("%s of %s as %q answered %d", path, sandbox, authorization, answer.StatusCode)
				}
			}
		}
	}
}
