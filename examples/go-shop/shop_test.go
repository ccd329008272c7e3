package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// The tests run against a sandbox: CAURI_URI, CAURI_API_KEY and CAURI_WEBHOOK_SECRET. Its webhook is http://127.0.0.1:$PORT/webhooks.

func TestCustomerPaysAndGetsTheMoneyBack(t *testing.T) {
	s := open(t)
	paid := s.until(s.order(s.number("SUCCESS")), "paid")
	if paid.Payments != 1 {
		t.Errorf("paid %d times", paid.Payments)
	}
	s.call(http.MethodPost, "/orders/"+paid.ID+"/refund", nil)
	s.until(paid, "refunded")
}

func TestCustomerWithoutMoneyIsToldSo(t *testing.T) {
	s := open(t)
	failed := s.until(s.order(s.number("INSUFFICIENT_FUNDS")), "failed")
	if failed.Reason != "There is not enough money in your wallet." || failed.Payments != 0 {
		t.Errorf("%+v", failed)
	}
	s.until(s.order(s.number("SUCCESS")), "paid") // and can try again
}

func TestForgedWebhookChangesNothing(t *testing.T) {
	s := open(t)
	waiting := s.order(s.number("TIMEOUT"))
	forged := []byte(`{"event":"payment.completed","tx_id":"TX_FORGED","order_ref":"` + waiting.ID + `","status":"SUCCESS"}`)
	for _, signature := range []string{"", sign(forged, "guess")} {
		if status := s.webhook(forged, signature); status != http.StatusUnauthorized {
			t.Errorf("answered %d", status)
		}
	}
	s.until(waiting, "waiting")
}

func TestWebhookThatComesTwiceCountsOnce(t *testing.T) {
	s := open(t)
	paid := s.until(s.order(s.number("SUCCESS")), "paid")
	again := []byte(`{"event":"payment.completed","tx_id":"` + paid.Payment + `","order_ref":"` + paid.ID + `","status":"SUCCESS", "raw":null}`)
	for range 2 {
		if status := s.webhook(again, sign(again, os.Getenv("CAURI_WEBHOOK_SECRET"))); status != http.StatusNoContent {
			t.Errorf("answered %d", status)
		}
	}
	if paid = s.until(paid, "paid"); paid.Payments != 1 {
		t.Errorf("paid %d times", paid.Payments)
	}
}

// visit is a customer in a shop that is open.
type visit struct {
	*testing.T
	shop *shop
	url  string
	down *atomic.Bool // the shop answers nothing but 503
}

func open(t *testing.T) visit {
	t.Helper()
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	s := newShop()
	var down atomic.Bool
	routes := s.routes()
	answer := func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		routes.ServeHTTP(w, r)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(answer)}}
	server.Start()
	t.Cleanup(server.Close)
	return visit{T: t, shop: s, url: server.URL, down: &down}
}

// number is a test number of the sandbox whose payments end so.
func (v visit) number(outcome string) string {
	v.Helper()
	var list struct {
		Data []struct{ MSISDN, Currency, CollectionOutcome string }
	}
	if err := v.shop.cauri.call(v.Context(), http.MethodGet, "/v1/test_numbers", nil, &list); err != nil {
		v.Fatal(err)
	}
	for _, n := range list.Data {
		if n.Currency == "RWF" && n.CollectionOutcome == outcome {
			return n.MSISDN
		}
	}
	v.Fatalf("no test number ends %s: does the sandbox have testNumbers: Standard?", outcome)
	return ""
}

func (v visit) order(msisdn string) order {
	v.Helper()
	return v.call(http.MethodPost, "/orders", map[string]any{"msisdn": msisdn, "amount": 1500})
}

func (v visit) until(o order, state string) order {
	v.Helper()
	for range 1200 {
		if o = v.call(http.MethodGet, "/orders/"+o.ID, nil); o.State == state {
			return o
		}
		time.Sleep(50 * time.Millisecond)
	}
	v.Fatalf("the order never became %s: %+v", state, o)
	return o
}

func (v visit) call(method, path string, body any) (o order) {
	v.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		v.Fatal(err)
	}
	status, answer := v.send(method, path, encoded, nil)
	if err := json.Unmarshal(answer, &o); err != nil || status >= 300 {
		v.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	return o
}

func (v visit) webhook(body []byte, signature string) (status int) {
	v.Helper()
	status, _ = v.send(http.MethodPost, "/webhooks", body, http.Header{"X-Service-Signature": {signature}})
	return status
}

func (v visit) send(method, path string, body []byte, header http.Header) (status int, answer []byte) {
	v.Helper()
	request, err := http.NewRequestWithContext(v.Context(), method, v.url+path, bytes.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		v.Fatal(err)
	}
	defer response.Body.Close()
	var read bytes.Buffer
	if _, err := read.ReadFrom(response.Body); err != nil {
		v.Fatal(err)
	}
	return response.StatusCode, read.Bytes()
}

func sign(body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
