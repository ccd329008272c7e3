package worker_test

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/worker"
)

// served serves the API to the holder of the returned key.
func (w *fixture) served() (url, key string) {
	w.t.Helper()
	key = "cauri_sk_test_expiry"
	c := sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(key)), SigningSecret: secret}
	if err := w.ApplyCredentials(w.t.Context(), w.config.UID, c); err != nil {
		w.t.Fatal(err)
	}
	server := httptest.NewServer(fronts.New(frontstest.Options(w.Store)))
	w.t.Cleanup(server.Close)
	return server.URL, key
}

// A payment that nobody confirms ends soon after its own time is over, from the request to the event.
func TestUnconfirmedPaymentExpiresInTime(t *testing.T) {
	w := newFixture(t, nil)
	w.alices(payments.Ignore, 1_000_000)
	w.configure(func(c *sandboxes.Config) { c.PendingTimeout, c.LatencyPercent = 2*time.Second, 0 })
	url, key := w.served()
	w.run()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/payments", strings.NewReader(
		`{"amount": 1000, "currency": "RWF", "msisdn": "`+alice+`", "reference": "r1", "application": "shop"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var payment struct{ ID, Status string }
	if err := json.NewDecoder(answer.Body).Decode(&payment); err != nil || payment.Status != "PENDING" {
		t.Fatalf("answered %d %+v, %v", answer.StatusCode, payment, err)
	}
	w.until(ledger.EventDelivered, 1)
	id, err := payments.ParseID(payment.ID)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := w.GetTransaction(t.Context(), w.sandbox.Tenant, id)
	if err != nil || ended.Status != payments.Timeout || ended.CompletedAt == nil {
		t.Fatalf("it is %+v, %v", ended, err)
	}
	after := ended.CompletedAt.Sub(ended.CreatedAt)
	t.Logf("it ended %v after it was made", after.Round(time.Millisecond))
	if after < 2*time.Second {
		t.Errorf("it ended %v after it was made, want 2 s", after)
	}
	came := w.hook.deliveries()
	if len(came) != 1 || !strings.Contains(came[0].body, `"status":"TIMEOUT"`) ||
		!strings.Contains(came[0].body, `"event":"payment.completed"`) {
		t.Errorf("came: %v", came)
	}
	if got := w.float("RWF"); got != 1000 {
		t.Errorf("the merchant has %d", got)
	}
}

// A payment that lost its due time, for whatever reason, ends all the same: the first pass of a worker finds it.
func TestForgottenPaymentExpires(t *testing.T) {
	logged := &log{}
	w := newFixture(t, nil)
	w.alices(payments.Ignore, 1_000_000)
	id := w.pay("r1", payments.Pending)
	if _, err := w.sql.Exec(t.Context(), "update transactions set due_at = null, expires_at = now() - interval '2 minutes'"); err != nil {
		t.Fatal(err)
	}
	w.run(logged.into, func(o *worker.Options) { o.Chance = func() float64 { return 0 } })
	w.until(ledger.EventDelivered, 1)
	if ended := w.ended(id); ended.Status != payments.Timeout {
		t.Errorf("it is %s", ended.Status)
	}
	if got := logged.count("payments that should have expired", "transactions=1"); got != 1 {
		t.Errorf("%d lines of log tell of it, want 1", got)
	}
}
