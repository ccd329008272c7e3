package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// shopEndpoint keeps what comes to a shop, by the path.
type shopEndpoint struct {
	*httptest.Server
	mu   sync.Mutex
	came map[string][]string
}

func newShopEndpoint(t *testing.T) *shopEndpoint {
	e := &shopEndpoint{came: map[string][]string{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.came[r.URL.Path] = append(e.came[r.URL.Path], string(body))
	}))
	t.Cleanup(e.Close)
	return e
}

// wait returns what came to a path, as soon as it is so many.
func (e *shopEndpoint) wait(t *testing.T, path string, n int) []string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		e.mu.Lock()
		came := append([]string(nil), e.came[path]...)
		e.mu.Unlock()
		if len(came) >= n {
			return came
		}
	}
	t.Fatalf("fewer than %d requests came to %s within a minute", n, path)
	return nil
}

// One payment through both doors: begun by MTN's API, approved on the handset, refunded by both APIs, and told by webhooks, callbacks, the
// list and both statuses alike.
func TestOnePaymentThroughBothAPIs(t *testing.T) {
	f := newFixture(t)
	shop := newShopEndpoint(t)
	f.config.Webhook = &sandboxes.WebhookConfig{URL: shop.URL + "/webhooks", Retry: sandboxes.DefaultRetryPolicy}
	f.sandbox(f.config, key)
	f.client("alice", alice, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
	f.runWorker()
	m := f.mtn(key)
	const status = "/collection/v1_0/requesttopay/"

	paid := m.pay(alice, "X-Callback-Url", shop.URL+"/paid")
	f.approve(alice)
	told := m.call("GET", status+paid, "")
	if told.body["status"] != "SUCCESSFUL" {
		t.Fatalf("after the approval the status is %s", told.raw)
	}
	if got := shop.wait(t, "/paid", 1); got[0] != told.raw {
		t.Errorf("the callback is %s, the status %s", got[0], told.raw)
	}
	listed := f.call("GET", "/v1/payments?reference="+paid, nil).body["data"].([]any)[0].(object)
	if fieldsOf(listed, "source", "status", "amount", "currency", "msisdn") != "native SUCCESS 1000 RWF "+alice {
		t.Errorf("/v1 lists %v", listed)
	}

	// raw repeats the texts of the request wherever it is told.
	const texts = `"externalId":"order-1042"`
	for what, told := range map[string]string{
		"the list": f.call("GET", "/v1/payments?reference="+paid, nil).raw, "the webhook": shop.wait(t, "/webhooks", 1)[0],
		"the payment": f.call("GET", "/v1/payments/"+listed["id"].(string), nil).raw,
	} {
		if !strings.Contains(told, texts) || !strings.Contains(told, `"payerMessage":"Two tickets","payeeNote":"shop"`) {
			t.Errorf("%s does not repeat the texts: %s", what, told)
		}
	}

	byV1 := f.refund(listed["id"].(string), object{"amount": 300})
	byV1.is(t, http.StatusCreated, "SUCCESS")
	byMTN := newReference()
	body := fmt.Sprintf(`{"amount": "200", "currency": "RWF", "externalId": "r-1", "referenceIdToRefund": %q}`, paid)
	m.call("POST", "/disbursement/v1_0/refund", body, "X-Reference-Id", byMTN, "X-Callback-Url", shop.URL+"/refunded").
		is(t, http.StatusAccepted, "")
	if told := f.call("GET", "/v1/payments?reference="+byMTN, nil).raw; !strings.Contains(told, `"externalId":"r-1"`) {
		t.Errorf("the refund does not repeat its texts: %s", told)
	}
	refunded := m.call("GET", "/disbursement/v1_0/refund/"+byMTN, "")
	if got := shop.wait(t, "/refunded", 1); refunded.body["status"] != "SUCCESSFUL" || got[0] != refunded.raw {
		t.Errorf("the callback is %s, the status %s", got[0], refunded.raw)
	}
	if got := f.refund(listed["id"].(string), object{"amount": 501}); got.status/100 != 4 {
		t.Errorf("a refund of more than is left was answered %d %s", got.status, got.raw)
	}

	// A payment of /v1 is refunded by MTN's API, and has no callback of its own.
	f.call("POST", "/v1/payments", payment("by-v1", object{"scenario": "success"})).is(t, http.StatusCreated, "SUCCESS")
	body = strings.Replace(body, paid, "by-v1", 1)
	m.call("POST", "/disbursement/v1_0/refund", body, "X-Reference-Id", newReference()).is(t, http.StatusAccepted, "")

	webhooks := shop.wait(t, "/webhooks", 5)
	for _, reference := range []string{paid, byMTN, "by-v1"} {
		if n := strings.Count(strings.Join(webhooks, "\n"), fmt.Sprintf(`"reference":%q`, reference)); n == 0 {
			t.Errorf("no webhook has the reference %s: %v", reference, webhooks)
		}
	}
	all := map[string]int{}
	for _, entry := range f.call("GET", "/v1/payments", nil).body["data"].([]any) {
		all[fieldsOf(entry.(object), "type", "source", "status")]++
	}
	want := map[string]int{
		"collection native SUCCESS": 1, "collection api SUCCESS": 1, "refund native SUCCESS": 2, "refund api SUCCESS": 1,
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	// Twice 1000 less 15 of commission came, and 300, 200 and 200 went back.
	balance := fmt.Sprintf(`{"availableBalance":"%d","currency":"RWF"}`, 1000+2*985-700)
	m.call("GET", "/collection/v1_0/account/balance", "").is(t, http.StatusOK, balance)
	if got := f.balance(alice); got != 50_000-2*1000+700 {
		t.Errorf("alice has %d", got)
	}
	f.conserved()
}
